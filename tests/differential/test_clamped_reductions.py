"""Minima and maxima of integers that their property cannot hold: exact where the result fits, else the nearest one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler import ir, space
from vgraph.compiler.frontend import argument_types, build_program
from vgraph.compiler.ir.rewrite import Context
from vgraph.compiler.ir.trees import walk
from vgraph.config import scope
from vgraph.runtime.executor import signature_of
from vgraph.runtime.policy import facts_of

TYPES = ("int32", "int64", "uint32", "uint64")
EXTREMES = sorted(
    {int(f(np.iinfo(t))) for t in TYPES for f in (lambda i: i.min, lambda i: i.max)} | {-3, 3, 7}
)


@pytest.fixture(autouse=True)
def unoptimised() -> Iterator[None]:
    with scope(opt=0):
        yield


@vg.operator
def lower(src, edge, dst):
    dst.x = min(dst.x, edge.w)


@vg.operator
def lower_by_test(src, edge, dst):
    if edge.w < dst.x:
        dst.x = edge.w


@vg.operator
def lower_by_mirrored_test(src, edge, dst):
    if dst.x >= edge.w:
        dst.x = edge.w


@vg.operator
def lift(src, edge, dst):
    dst.x = max(edge.w, dst.x)


@vg.operator
def lift_by_test(src, edge, dst):
    if edge.w >= dst.x:
        dst.x = edge.w


@vg.operator
def scatter(v):
    for e in v.out_edges:
        if e.w > e.dst.x:
            e.dst.x = e.w


WAYS = {
    "lower": lower,
    "lower_by_test": lower_by_test,
    "lower_by_mirrored_test": lower_by_mirrored_test,
    "lift": lift,
    "lift_by_test": lift_by_test,
    "scatter": scatter,
}


@vg.algorithm
def extremes(graph, dtype=vg.int32, fill=7, way="lower"):
    x = graph.vertex_property(dtype, fill=fill)
    if way == "lower":
        graph.edge_apply(lower)
    elif way == "lower_by_test":
        graph.edge_apply(lower_by_test)
    elif way == "lower_by_mirrored_test":
        graph.edge_apply(lower_by_mirrored_test)
    elif way == "lift":
        graph.edge_apply(lift)
    elif way == "lift_by_test":
        graph.edge_apply(lift_by_test)
    else:
        graph.vertex_apply(scatter)
    return x


def stars(dtype: str) -> vg.Graph:
    """Vertices that get one extreme each, and one that gets them all."""
    limits = np.iinfo(dtype)
    values = [w for w in EXTREMES if limits.min <= w <= limits.max]
    ends = [*range(len(values)), *[len(values)] * len(values)]
    return vg.Graph.from_edges(
        [0] * len(ends), ends, num_vertices=len(values) + 1, w=np.array(values * 2, dtype)
    )


def expected(graph: vg.Graph, dtype: str, way: str) -> list[int]:
    limits = np.iinfo(dtype)
    least = way.startswith("lower")
    found = [7] * graph.num_vertices
    _, targets, properties = graph.edges()
    for v, w in zip(targets.tolist(), properties["w"].tolist(), strict=True):
        best = min(found[v], w) if least else max(found[v], w)
        found[v] = min(max(best, int(limits.min)), int(limits.max))
    return found


@pytest.mark.parametrize("way", WAYS)
def test_minima_and_maxima_are_clamped(way: str) -> None:
    for place, operand in itertools.product(TYPES, TYPES):
        graph = stars(operand)
        wanted = expected(graph, place, way)
        given = {"dtype": getattr(vg, place), "way": way}
        for options in ({"device": "python"}, {"threads": 1}, {"threads": 2}):
            found: Any = vg.run(extremes, graph, **given, **options)
            assert found.x.tolist() == wanted, (place, operand, options)


@vg.operator
def relax(src, edge, dst):
    dst.dist = min(dst.dist, src.dist + edge.weight)


@vg.algorithm
def narrow_paths(graph, source: vg.vertex, wide=False):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    dist[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    return dist


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_an_int32_distance_by_int64_weights_under_all_schedules(dtype: type) -> None:
    """What does not fit stays unreached, and updates may be seen early: clamping keeps the order."""
    weight = np.array([5, 7, 2**31 - 30 if dtype is np.int32 else 2**32 + 3], dtype)
    graph = vg.Graph.from_edges([0, 1, 0], [1, 2, 3], weight=weight)
    wanted = [0, 5, 12, 2**31 - 30 if dtype is np.int32 else 2**31 - 1]
    types = argument_types(narrow_paths, {"source": 0, "wide": False})
    context = Context(facts=facts_of(graph))
    program = space.ready(build_program(narrow_paths, signature_of(graph, types)), context)
    schedules = space.sample(program, context, 6, 1)
    for schedule in (*schedules, vg.Schedule().at("relax", sync=vg.ASYNC)):
        found = vg.run(narrow_paths, graph, source=0, threads=2, schedule=schedule)
        assert found.dist.tolist() == wanted, schedule


def test_operands_of_the_same_type_cost_nothing() -> None:
    graph = vg.Graph.from_edges([0], [1], weight=np.array([1], np.int32))
    types = argument_types(narrow_paths, {"source": 0, "wide": False})
    (operator,) = build_program(narrow_paths, signature_of(graph, types)).operators
    assert [n.op for n in walk(operator) if isinstance(n, ir.Binary)] == ["+"]
    assert not [n for n in walk(operator) if isinstance(n, ir.Cast)]


# --- claims ---------------------------------------------------------------------------------------------------


@vg.operator
def claim(src, edge, dst, graph):
    if dst.x == graph.c:
        dst.x = 1


@vg.algorithm
def claims(graph, start, c, dtype=vg.uint32):
    x = graph.vertex_property(dtype, fill=start)
    graph.c = c
    claimed = graph.edge_apply(claim)
    size = len(claimed)
    return x, size


@pytest.mark.parametrize(
    ("dtype", "start", "c", "size"),
    [
        (vg.uint32, 2**32 - 1, -1, 0),
        (vg.uint32, 2**32 - 1, 2**32 - 1, 1),
        (vg.int32, 3, 2**32 + 3, 0),
        (vg.int32, -3, -3, 1),
        (vg.float32, 0.1, 0.1, 0),
        (vg.float32, 0.5, 0.5, 1),
    ],
)
def test_a_claim_compares_in_the_wider_type(dtype: Any, start: float, c: float, size: int) -> None:
    graph = vg.Graph.from_edges([0], [1])
    for options in ({"device": "python"}, {"threads": 1}, {"threads": 2}):
        found = vg.run(claims, graph, dtype=dtype, start=start, c=c, **options)
        assert found.size == size, options

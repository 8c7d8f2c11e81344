"""Loops on pieces of vertices: wherever vertices are cut, kernels give the answer of the program."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowering_programs import PROGRAMS
from test_lowering import fitted, lowered, native, same

import vgraph as vg
from vgraph.compiler import space
from vgraph.compiler.facts import Facts
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.choose_schedule import labels
from vgraph.schedule import Schedule

GOLDEN = Path(__file__).parent / "golden"
CUT = [name for name in PROGRAMS if name != "gathers"]  # a visit that gathers vertices is one thread's
OPTIONS = [
    {"direction": direction, "drive": drive, "frontier": frontier, "balance": balance}
    for direction, drive, frontier, balance in itertools.product(
        (vg.PUSH, vg.PULL), (vg.TOPOLOGY, vg.DATA), (vg.SPARSE, vg.BITMAP), (vg.EDGE, vg.SPLIT(2), vg.SPLIT())
    )
]
SHAPES = ("random", "star", "double star", "power law", "no edges")


def shaped(shape: str, n: int, m: int, seed: int, *, directed: bool) -> vg.Graph:
    """A graph of at most `n` vertices and `m` edges, with hubs but where it is random."""
    rng = np.random.default_rng(seed)
    leaves = np.arange(1, n)
    src, dst = rng.integers(0, n, m), rng.integers(0, n, m)
    if shape == "star":
        src, dst = np.zeros_like(leaves), leaves
    elif shape == "double star":
        src, dst = np.tile(leaves, 2), np.repeat([0, n - 1], leaves.size)
    elif shape == "power law":
        src, dst = (n * rng.random(m) ** 4).astype(np.int64), (n * rng.random(m) ** 2).astype(np.int64)
    elif shape == "no edges":
        src = dst = np.zeros(0, np.int64)
    weight = rng.integers(0, 9, src.size).astype(np.int32)
    return vg.Graph.from_edges(src, dst, num_vertices=n, directed=directed, weight=weight)


def asked(program, options) -> Schedule:
    """`options` at every label; what is not legal at one is left out there."""
    chosen, ready = Schedule(), space.ready(program, Context())
    for label in labels(ready):
        here = space.Label(ready, label, Context())
        for name, value in options.items():
            attempt = chosen.at(label, **{name: value})
            if here.attempt(attempt.labels[label])[1] is None:
                chosen = attempt
    return chosen


@pytest.mark.parametrize("name", CUT)
@given(
    shape=st.sampled_from(SHAPES),
    options=st.sampled_from(OPTIONS),
    seed=st.integers(0, 999),
    directed=st.booleans(),
    threads=st.sampled_from((0, 1)),
)
@settings(max_examples=8)
def test_random_cuts_give_the_answer_of_the_program(name, shape, options, seed, directed, threads):
    graph = shaped(shape, 9, 30, seed, directed=directed)
    program = fitted(PROGRAMS[name], graph)
    want = interpret(program, graph, {"source": 0})
    kernel = lowered(program, asked(program, options), threads)
    same(interpret(kernel, graph, {"source": 0}, seed=seed, threads=1 if threads else 3), want)
    same(interpret(kernel, graph, {"source": 0}), want)


@pytest.mark.covering
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", CUT)
def test_machine_code_gives_the_answer_of_the_program(name, shape):
    graph = shaped(shape, 300, 2000, len(shape), directed=len(name) % 2 == 0)
    program = fitted(PROGRAMS[name], graph)
    want = interpret(program, graph, {"source": 0})
    rng = np.random.default_rng(len(name) + len(shape))
    for number in rng.permutation(len(OPTIONS))[:3]:
        schedule = asked(program, OPTIONS[number])
        for threads in (1, 2, 4):
            kernel = lowered(program, schedule, 1 if threads == 1 else 0)
            same(native(kernel, graph, threads), want)


@vg.operator
def visit(src, edge, dst):
    dst.dist = min(dst.dist, src.dist + edge.weight)
    dst.count += 1


@vg.algorithm
def both(graph):
    """Shortest hops and arcs that enter."""
    dist = graph.vertex_property(vg.int32, fill=9)
    count = graph.vertex_property(vg.int32)
    frontier = graph.edge_apply(visit)
    reached = len(frontier)
    return dist, count, reached


def kernel_text(balance, direction) -> str:
    graph = shaped("star", 9, 0, 0, directed=True)
    schedule = vg.Schedule().at("visit", balance=balance, direction=direction)
    text = vg.explain(both, graph, schedule=schedule, threads=2).passes["insert-atomics"]
    return text + "\n"


@pytest.mark.parametrize(
    ("balance", "direction"), [(vg.EDGE, vg.PULL), (vg.SPLIT(64), vg.PUSH), (vg.SPLIT(), vg.PULL)]
)
def test_golden(balance, direction, golden: Callable[[Path, str], None]) -> None:
    name = f"balance_{balance.kind}_{direction.value}.ir"
    golden(GOLDEN / name, kernel_text(balance, direction))


def test_splitting_is_chosen_where_others_would_wait() -> None:
    program = fitted(PROGRAMS["bfs"], shaped("star", 5, 0, 0, directed=True))
    hubs = Facts(large=True, hubs=True)

    def cut(facts: Facts, threads: int) -> bool:
        kernel = PassManager(Context(threads=threads, facts=facts)).run(program, PIPELINE)
        return any(p.name.startswith("policy.split") for p in kernel.params)

    assert cut(hubs, 0)
    assert not cut(hubs, 1)
    assert not cut(Facts(large=True), 0)
    assert not cut(Facts(), 0)


@vg.operator
def carried(v):
    last = vg.int64(0)
    for u in v.out_neighbors:
        last = last * 2 + u.id
    v.x = last


@vg.operator
def stored(v):
    total = vg.int64(0)
    for u in v.out_neighbors:
        total += u.id
    v.x = total


@vg.operator
def early(v):
    for u in v.out_neighbors:
        v.x += 1
        if u.id > 3:
            break


@vg.operator
def twice(v):
    for u in v.out_neighbors:
        v.x += u.id
    for u in v.in_neighbors:
        v.x += u.id


@vg.operator
def read_back(v):
    for u in v.out_neighbors:
        v.x += u.id
    if v.x > 3:
        v.y = 1


@vg.operator
def none_walked(v):
    v.x = v.id


@vg.algorithm
def apply_carried(graph):
    x = graph.vertex_property(vg.int64)
    graph.vertex_apply(carried)
    return x


@vg.algorithm
def apply_stored(graph):
    x = graph.vertex_property(vg.int64)
    graph.vertex_apply(stored)
    return x


@vg.algorithm
def apply_early(graph):
    x = graph.vertex_property(vg.int64)
    graph.vertex_apply(early)
    return x


@vg.algorithm
def apply_twice(graph):
    x = graph.vertex_property(vg.int64)
    graph.vertex_apply(twice)
    return x


@vg.algorithm
def apply_read_back(graph):
    x = graph.vertex_property(vg.int64)
    y = graph.vertex_property(vg.int64)
    graph.vertex_apply(read_back)
    return x, y


@vg.algorithm
def apply_none_walked(graph):
    x = graph.vertex_property(vg.int64)
    graph.vertex_apply(none_walked)
    return x


REFUSED = [
    (apply_carried, "carried", vg.EDGE),
    (apply_stored, "stored", vg.SPLIT(4)),
    (apply_early, "early", vg.SPLIT()),
    (apply_twice, "twice", vg.EDGE),
    (apply_read_back, "read_back", vg.EDGE),
    (apply_none_walked, "none_walked", vg.SPLIT()),
    (both, "visit", vg.WARP),
    (both, "visit", vg.BLOCK),
    (both, "visit", vg.TWC),
]


def test_refusals(golden: Callable[[Path, str], None]) -> None:
    graph = shaped("star", 9, 0, 0, directed=True)
    shown = []
    for algorithm, label, balance in REFUSED:
        with pytest.raises(vg.ScheduleError) as caught:
            vg.run(algorithm, graph, schedule=vg.Schedule().at(label, balance=balance))
        shown.append(str(caught.value).replace(__file__, "test_balance_load.py"))
    golden(GOLDEN / "balance_refused.txt", "\n\n".join(shown) + "\n")

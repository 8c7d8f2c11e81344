"""Parameters that are properties of edges: given by name, as an array, as a number, or left out."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler.frontend import argument_types, build_program
from vgraph.compiler.ir.text import print_program
from vgraph.runtime.executor import signature_of

DEVICES = pytest.mark.parametrize("device", ["python", "cpu"])
GRAPH = vg.Graph.from_edges(
    [0, 1, 2, 0],
    [1, 2, 0, 2],
    length=np.array([3, 4, 5, 9], np.int32),
    weight=[1.5, 2.5, 2.0, 7.0],
    open=[True, False, True, True],
)


@vg.operator
def gather(src, edge, dst):
    dst.sum += edge.weight * src.own


@vg.algorithm
def sums(graph, weight: vg.edge_property(vg.float64) = 1, start=1.0):
    own = graph.vertex_property(vg.float64, fill=start)
    sum = graph.vertex_property(vg.float64)
    graph.edge_apply(gather)
    return sum


@vg.operator
def gather_plain(src, edge, dst):
    dst.sum += src.own


@vg.algorithm
def plain_sums(graph, start=1.0):
    own = graph.vertex_property(vg.float64, fill=start)
    sum = graph.vertex_property(vg.float64)
    graph.edge_apply(gather_plain)
    return sum


@DEVICES
@pytest.mark.parametrize("relabel", [None, "degree"])
def test_what_may_be_given(device: str, relabel: str | None) -> None:
    for given, expected in (
        ({}, [1, 1, 2]),
        ({"weight": None}, [1, 1, 2]),
        ({"weight": "length"}, [5, 3, 13]),
        ({"weight": "weight"}, [2, 1.5, 9.5]),
        ({"weight": 3}, [3, 3, 6]),
        ({"weight": np.array([1, 2, 4, 8])}, [8, 1, 6]),  # by arcs: 0 to 1, 0 to 2, 1 to 2, 2 to 0
    ):
        found = vg.run(sums, GRAPH, device=device, relabel=relabel, **given)
        assert found.sum.tolist() == expected, given


def test_a_name_stands_for_the_property_of_this_graph() -> None:
    """Graphs that share their arcs have properties of their own."""
    other = GRAPH.with_edge_property("length", np.array([1, 1, 1, 1], np.int32))
    for graph, expected in ((GRAPH, [5, 3, 13]), (other, [1, 1, 2]), (GRAPH, [5, 3, 13])):
        assert vg.run(sums, graph, weight="length").sum.tolist() == expected


def program(algorithm: vg.AlgorithmDef, **given: object) -> str:
    graph, _, replaced = algorithm.prepare(GRAPH, given)
    types = argument_types(algorithm, {**given, **replaced})
    return print_program(build_program(algorithm, signature_of(graph, types)))


def test_a_constant_is_folded_into_the_code() -> None:
    assert "edge weight" not in program(sums)
    assert "edge weight: f64 graph" in program(sums, weight="weight")
    assert lowered(sums) == lowered(plain_sums)
    assert lowered(sums) != lowered(sums, weight="weight")


def lowered(algorithm: vg.AlgorithmDef, **given: object) -> str:
    """The program after the last pass."""
    *_, text = vg.explain(algorithm, GRAPH, **given).passes.values()
    return text.replace("plain_sums", "sums").replace("gather_plain", "gather")


@vg.operator
def relax(src, edge, dst):
    dst.dist = min(dst.dist, src.dist + edge.weight)


@vg.algorithm
def distances(graph, source: vg.vertex, weight: vg.edge_property(vg.int64) = 1):
    dist = graph.vertex_property(vg.int64, fill=vg.inf)
    dist[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    return dist


@DEVICES
@pytest.mark.parametrize(
    "options",
    [
        {"direction": vg.PUSH},
        {"direction": vg.PULL},
        {"phases": vg.GATHER_APPLY},
        {"phases": vg.APPLY_SCATTER},
        {"order": vg.delta_stepping(4)},
    ],
)
def test_every_schedule(device: str, options: dict[str, object]) -> None:
    schedule = vg.Schedule().at("relax", **options)
    given = {"schedule": schedule} if device == "cpu" else {}
    assert vg.run(distances, GRAPH, source=1, device=device, **given).dist.tolist() == [2, 0, 1]
    found = vg.run(distances, GRAPH, source=1, weight="length", device=device, **given)
    assert found.dist.tolist() == [9, 0, 4]


@vg.operator
def square(src, edge, dst):
    dst.sum += edge.weight * edge.weight


@vg.algorithm
def squares(graph, weight: vg.edge_property(vg.int64)):
    sum = graph.vertex_property(vg.int64)
    graph.edge_apply(square)
    return sum


@DEVICES
def test_it_is_read_in_the_declared_type(device: str) -> None:
    wide = vg.Graph.from_edges([0], [1], length=np.array([70_000], np.int32))
    assert vg.run(squares, wide, weight="length", device=device).sum.tolist() == [0, 70_000**2]


def test_it_may_be_left_out_altogether() -> None:
    @vg.operator
    def count(v):
        if weight is None:  # noqa: F821
            v.sum = v.out_degree
        else:
            for e in v.out_edges:
                v.sum += e.weight

    @vg.algorithm
    def strength(graph, weight: vg.edge_property(vg.float64) = None):
        sum = graph.vertex_property(vg.float64)
        graph.vertex_apply(count)
        return sum

    for device in ("python", "cpu"):
        assert vg.run(strength, GRAPH, device=device).sum.tolist() == [2, 1, 1]
        assert vg.run(strength, GRAPH, device=device, weight="length").sum.tolist() == [12, 4, 5]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("lenght", r"weight='lenght': the graph has no such edge property; it has: length, weight, open"),
        ("open", r"weight='open': edges hold bool, and sums takes numbers that vg.float64 holds"),
        ([1.0, 2.0], "has 2 rows, but there are 4 arcs"),
        (True, r"weight=True is not the name of an edge property, an array .*, or a number"),
        ({}, r"weight=\{\} is not the name of an edge property"),
    ],
)
def test_what_may_not_be_given(given: object, message: str) -> None:
    with pytest.raises(vg.VGraphError, match=message):
        vg.run(sums, GRAPH, weight=given)


def test_fractions_are_not_cut_off() -> None:
    with pytest.raises(
        vg.ParameterError, match=r"edges hold float64, and distances takes numbers that vg\.int64"
    ):
        vg.run(distances, GRAPH, source=0, weight="weight")
    with pytest.raises(vg.ParameterError, match=r"weight=1\.5 is not"):
        vg.run(distances, GRAPH, source=0, weight=1.5)


def test_what_is_no_type_of_numbers() -> None:
    for wrong in (float, vg.vertex, vg.vector(vg.float32, 2)):
        with pytest.raises(vg.DeclarationError, match=r"vg\.edge_property takes a number type"):
            vg.edge_property(wrong)


def test_explanations_show_it() -> None:
    assert str(vg.explain(sums, GRAPH)).splitlines()[0] == (
        "sums(graph, weight: vg.edge_property(vg.float64) = 1, start=1.0)"
    )
    assert "edge weight" in str(vg.explain(sums, GRAPH, weight="length"))

"""Arrays as parameters, read by computed index: the same on every device and schedule, and as NumPy has it."""

# ruff: noqa: F821 (operators read parameters of their algorithm)
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from schedule_matrix import Case, program_of
from tables import ARRAYS, EMPTY, GRAPH, ZONE, check_lookups, far_of, lookups

import vgraph as vg
from vgraph.compiler import space


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
@pytest.mark.parametrize("how", [{"device": "python"}, {"threads": 1}], ids=str)
def test_indices_of_every_type(dtype: Any, how: dict[str, Any]) -> None:
    check_lookups(dtype, ARRAYS, **how)


@pytest.mark.parametrize("how", [{"device": "python"}, {"threads": 1}, {"threads": 2}], ids=str)
def test_empty_arrays(how: dict[str, Any]) -> None:
    check_lookups(np.int64, EMPTY, **how)


def test_schedules_agree() -> None:
    arguments = {"far": far_of(np.int64), "zone": ZONE, **ARRAYS}
    asked = program_of(lookups, Case("", GRAPH, arguments, None), 2)
    for schedule in space.sample(*asked, 6, seed=2):
        check_lookups(np.int64, ARRAYS, schedule=schedule, threads=2)


def test_what_is_given_stays_as_it_is() -> None:
    """Of any layout and order of bytes, read-only or not."""
    table = np.arange(20)[::4].astype(">i8")
    cost = np.asfortranarray(ARRAYS["cost"])
    cost.flags.writeable = False
    before = table.copy(), cost.copy()
    check_lookups(np.int64, {**ARRAYS, "table": table, "cost": cost}, threads=1)
    assert (before[0] == table).all()
    assert (before[1] == cost).all()


@vg.operator
def read(v):
    v.x = table[v.i]


@vg.algorithm
def reads(graph, i, table: vg.array(vg.float32)):
    x = graph.vertex_property(vg.float32)
    graph.vertex_apply(read)
    return x


def test_nan_and_infinity_are_values() -> None:
    graph = vg.Graph.from_edges([], [], num_vertices=3)
    table = np.array([np.nan, -np.inf, -0.0])
    for how in ({"device": "python"}, {"threads": 1}, {"checked": True}):
        found = vg.run(reads, graph, i=[0, 1, 2], table=table, **how).x
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, table)
        assert np.signbit(found[2])


def test_a_checked_run_tells_what_is_outside() -> None:
    graph = vg.Graph.from_edges([], [], num_vertices=2)
    assert vg.run(reads, graph, i=[-3, 2], table=[1, 2, 3], checked=True).x.tolist() == [1, 3]
    for outside in (-4, 3):
        with pytest.raises(vg.CheckError, match=f"there is no element {outside} in `table`"):
            vg.run(reads, graph, i=[outside, 0], table=[1, 2, 3], checked=True)


@vg.operator
def follow_on(v):
    v.x = table[v.next] + cost[v.next, v.next]


@vg.algorithm
def follows_on(graph, table: vg.array(vg.int64), cost: vg.array(vg.int64, 2)):
    next = graph.vertex_property(vg.vertex)
    x = graph.vertex_property(vg.int64)
    for v in range(graph.num_vertices):
        next[v] = vg.none
    next[0] = 1
    graph.vertex_apply(follow_on)
    return x


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("how", [{"device": "python"}, {"threads": 1}, {"checked": True}], ids=str)
def test_no_vertex_is_no_index(bits: int, how: dict[str, Any]) -> None:
    """It is none in a checked run, too, and no fault: so it is with properties."""
    graph = vg.Graph.from_edges([], [], num_vertices=2, id_bits=bits)
    found = vg.run(follows_on, graph, table=[5, 7], cost=[[1, 2], [3, 4]], **how)
    assert found.x.tolist() == [11, 0]


@vg.algorithm
def starts(graph, sources: vg.array(vg.vertex), k=0):
    level = graph.vertex_property(vg.int32, fill=-1)
    level[sources[k]] = 0
    frontier = graph.frontier(sources)
    size = len(frontier)
    return level, size


@pytest.mark.parametrize("how", [{"device": "python"}, {"threads": 1}], ids=str)
def test_elements_that_are_vertices(how: dict[str, Any]) -> None:
    graph = vg.Graph.from_edges([], [], num_vertices=4)
    found = vg.run(starts, graph, sources=[2, 1], k=-1, **how)
    assert found.level.tolist() == [-1, 0, -1, -1]
    assert found.size == 2
    with pytest.raises(vg.AlgorithmError):
        vg.run(starts, graph, sources=[2, 1], k=2, **how)
    with pytest.raises(vg.ParameterError, match="sources=4 is not a vertex"):
        vg.run(starts, graph, sources=[2, 4], **how)


@vg.operator
def follow(v):
    v.next = chosen[v.k]


@vg.algorithm
def followed(graph, k: vg.vertex_property(vg.int64), chosen: vg.array(vg.vertex, 1)):
    next = graph.vertex_property(vg.vertex)
    graph.vertex_apply(follow)
    return next


def test_vertices_of_an_array_are_renumbered() -> None:
    graph = vg.Graph.from_edges([3, 3, 2], [0, 1, 0])
    found = vg.run(followed, graph, k=[0, 1, 2, -1], chosen=[2, 3], relabel="degree")
    assert found.next.tolist() == [2, 3, -1, 3]


@pytest.mark.parametrize(
    ("annotation", "value", "says"),
    [
        (vg.array(vg.int32), [2**31], "is not an array of vg.int32"),
        (vg.array(vg.uint64), [-1], "is not an array of vg.uint64"),
        (vg.array(vg.int64), [0.5], "is not an array of vg.int64"),
        (vg.array(vg.int64), np.array([2**63], np.uint64), "is not an array of vg.int64"),
        (vg.array(vg.bool_), [1], "is not an array of vg.bool_"),
        (vg.array(vg.float64), [[1.0]], "is not an array of vg.float64"),
        (vg.array(vg.float64), ["a"], "is not an array of vg.float64"),
        (vg.array(vg.float64), [1j], "is not an array of vg.float64"),
        (vg.array(vg.float64), 3.0, "is not an array of vg.float64"),
        (vg.array(vg.float64, 2), [1.0], "is not an array of vg.float64, with two dimensions"),
        (vg.array(vg.float64, 2), [[1.0], [1.0, 2.0]], "with two dimensions"),
        (vg.array(vg.float64, 2), np.zeros((1, 1, 1)), "with two dimensions"),
    ],
)
def test_arrays_that_do_not_fit(annotation: Any, value: Any, says: str) -> None:
    def size(graph, table: Any):
        graph.n = len(table)
        return graph.n

    size.__annotations__["table"] = annotation
    with pytest.raises(vg.ParameterError, match=says):
        vg.run(vg.algorithm(size), GRAPH, table=value)


def test_annotations_that_are_none() -> None:
    assert repr(vg.array(vg.float64)) == "vg.array(vg.float64)"
    assert repr(vg.array(vg.bool_, 2)) == "vg.array(vg.bool_, 2)"
    with pytest.raises(vg.DeclarationError, match="takes a scalar type"):
        vg.array(vg.vector(vg.float64, 2))
    with pytest.raises(vg.DeclarationError, match=r"write vg\.float64"):
        vg.array(np.float64)  # type: ignore[arg-type]
    for dimensions in (0, 3, True, 1.5, "2"):
        with pytest.raises(vg.DeclarationError, match="1 or 2 dimensions"):
            vg.array(vg.float64, dimensions)  # type: ignore[arg-type]


def test_explaining_without_an_array() -> None:
    assert "lookup cost[" in str(vg.explain(lookups, GRAPH, far=far_of(np.int64)))

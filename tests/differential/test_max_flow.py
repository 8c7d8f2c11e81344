"""Maximum flows beside SciPy's, on every device; what verifies them finds out what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

import vgraph as vg

A = vg.algorithms


def value_of(n: int, ends: np.ndarray, capacity: np.ndarray, directed: bool) -> int:
    """SciPy's, from vertex 0 to the last one."""
    ends = ends if directed else np.c_[ends, ends[::-1]]
    capacity = np.resize(capacity, ends.shape[1]).astype(np.int32)
    matrix = csr_array((capacity, tuple(ends)), shape=(n, n))
    matrix.sum_duplicates()
    return int(maximum_flow(matrix, 0, n - 1).flow_value)


def made(seed: int) -> tuple[int, np.ndarray, np.ndarray, bool]:
    """A random network with loops, parallel and opposite edges, and such as carry nothing."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    m = int(rng.integers(0, 7 * n))
    return n, rng.integers(0, n, (2, m)), rng.integers(0, 20, m), bool(seed % 2)


def check(result: Any, ends: np.ndarray, capacity: np.ndarray, directed: bool, n: int) -> None:
    """The flow of each edge as it was given."""
    u, v = ends
    assert (result.flow <= capacity).all()
    assert (result.flow >= (0 if directed else -capacity)).all()
    kept = np.zeros(n, result.flow.dtype)
    np.add.at(kept, v, result.flow)
    np.add.at(kept, u, -result.flow)
    assert kept[n - 1] == result.value == -kept[0]
    assert not kept[1 : n - 1].any()
    cut = result.min_cut[u] > result.min_cut[v] if directed else result.min_cut[u] != result.min_cut[v]
    assert capacity[cut].sum() == result.value


@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(40, 200), marks=pytest.mark.slow)])
def test_random_networks(seeds: range) -> None:
    for seed in seeds:
        n, ends, capacity, directed = made(seed)
        graph = vg.Graph.from_edges(*ends, num_vertices=n, directed=directed, capacity=capacity)
        result = vg.run(A.max_flow, graph, source=0, sink=n - 1, threads=1 + seed % 2)
        assert result.value == value_of(n, ends, capacity, directed)
        check(result, ends, capacity, directed, n)
        vg.verify(result)
        if seed % 10 < 2:
            again = vg.run(A.max_flow, graph, source=0, sink=n - 1, device="python")
            for name in result.names:
                np.testing.assert_array_equal(getattr(again, name), getattr(result, name))


@pytest.mark.parametrize("directed", [True, False])
def test_capacities_of_other_types(directed: bool) -> None:
    n, ends, whole, _ = made(7)
    for dtype in ("int32", "uint32", "uint64", "float32", "float64", "bool"):
        capacity = whole.astype(dtype)
        graph = vg.Graph.from_edges(*ends, num_vertices=n, directed=directed, pipe=capacity)
        result = vg.run(A.max_flow, graph, source=0, sink=n - 1, capacity="pipe")
        assert result.value.dtype == result.flow.dtype == ("float64" if dtype.startswith("f") else "int64")
        check(result, ends, capacity.astype(int), directed, n)
    thirds = vg.Graph.from_edges(*ends, num_vertices=n, directed=directed, capacity=whole / 3)
    result = vg.run(A.max_flow, thirds, source=0, sink=n - 1)
    assert result.value == pytest.approx(value_of(n, ends, whole, directed) / 3, rel=1e-12)
    vg.verify(result)
    unit = vg.run(A.max_flow, thirds, source=0, sink=n - 1, capacity=None)
    assert unit.value == value_of(n, ends, np.ones_like(whole), directed)
    vg.verify(unit)


@pytest.mark.parametrize("multi_edges", [False, "sum", "max"])
@pytest.mark.parametrize("directed", [True, False])
def test_edges_that_became_one(directed: bool, multi_edges: Any) -> None:
    """Each of merged edges has the flow of all, in its own direction; what was left out has none."""
    n, ends, capacity, _ = made(3)
    options = {"directed": directed, "multi_edges": multi_edges, "self_loops": False}
    graph = vg.Graph.from_edges(*ends, num_vertices=n, capacity=capacity, **options)
    result = vg.run(A.max_flow, graph, source=0, sink=n - 1)
    vg.verify(result)
    s, t, properties = graph.edges()
    assert result.value == value_of(n, np.stack([s, t]).astype(int), properties["capacity"], directed)
    flows: dict[tuple[int, int], int] = {}
    for u, v, flow in zip(*ends.tolist(), result.flow.tolist(), strict=True):
        if not directed and u > v:
            u, v, flow = v, u, -flow
        assert flows.setdefault((u, v), flow) == flow
        assert u != v or flow == 0
    assert result.flow.shape == capacity.shape
    again = vg.Graph.from_edges(s, t, num_vertices=n, directed=directed, keep_order=False, **properties)
    other = vg.run(A.max_flow, again, source=0, sink=n - 1)
    assert other.flow.tolist() == [flows[pair] for pair in zip(s.tolist(), t.tolist(), strict=True)]
    vg.verify(other)


@pytest.mark.parametrize("directed", [True, False])
def test_capacities_may_add_up_to_more_than_what_flows(directed: bool) -> None:
    most = 2**62 - 1
    ends = [0, 0, 1, 2, 1, 3, 3], [1, 2, 3, 3, 2, 4, 4]
    graph = vg.Graph.from_edges(
        *ends, directed=directed, capacity=[most, most - 2, most, most, most, 5, most]
    )
    found = vg.run(A.max_flow, graph, source=0, sink=4)
    assert found.value == most + 5
    vg.verify(found)
    more = vg.Graph.from_edges([0, 0, 0], [1, 2, 3], directed=directed, capacity=[most, most, 2])
    with pytest.raises(vg.ParameterError, match=r"what leaves the source adds up to 2\*\*63 or more"):
        vg.run(A.max_flow, more, source=0, sink=1)
    assert vg.run(A.max_flow, more, source=3, sink=1).value == (0 if directed else 2)


def test_another_order_of_vertices_is_refused_for_what_it_changes() -> None:
    graph = vg.Graph.from_edges([0, 1], [1, 2], capacity=[4, 3])
    with pytest.raises(vg.ScheduleError, match="`excess` is carried from neighbor to neighbor") as caught:
        vg.run(A.max_flow, graph, source=0, sink=2, relabel="degree")
    assert "v.excess -= sent" in str(caught.value)


def test_all_edges_were_left_out() -> None:
    loops = vg.Graph.from_edges([0, 1], [0, 1], num_vertices=3, self_loops=False, capacity=[1.5, 2])
    found = vg.run(A.max_flow, loops, source=0, sink=1)
    assert (found.value, found.flow.tolist(), found.min_cut.tolist()) == (0, [0, 0], [True, False, True])


def test_what_is_refused() -> None:
    graph = vg.Graph.from_edges(
        [0, 1],
        [1, 2],
        below=[1, -1],
        endless=[1, np.inf],
        no=[np.nan, 1],
        huge=[2**62, 1],
        vast=[1e308, 1e308],
        vectors=np.ones((2, 2)),
    )
    for given, message in (
        ({"sink": 0}, "source=0 is the sink"),
        ({}, "capacity='capacity': the graph has no such edge property; it has: below, endless"),
        ({"capacity": 3}, "capacity=3: the name of an edge property, or None"),
        ({"capacity": "below"}, "the capacity -1 is negative"),
        ({"capacity": "endless"}, "a capacity is not finite"),
        ({"capacity": "no"}, "a capacity is not finite"),
        ({"capacity": "huge"}, "a capacity is 2\\*\\*62 or more"),
        ({"capacity": "vast"}, "more than a float64 holds"),
        ({"capacity": "vectors"}, "capacity='vectors': its values are vectors, not numbers"),
        ({"sink": 3, "capacity": None}, "sink=3"),
    ):
        with pytest.raises(vg.ParameterError, match=message):
            vg.run(A.max_flow, graph, **{"source": 0, "sink": 2, **given})


@pytest.mark.parametrize("directed", [True, False])
def test_what_is_wrong_is_found(directed: bool) -> None:
    graph = vg.Graph.from_edges([0, 0, 1, 2, 1], [1, 2, 3, 3, 2], directed=directed, capacity=[3, 2, 2, 4, 9])
    result = vg.run(A.max_flow, graph, source=0, sink=3)
    vg.verify(result)
    right = {name: getattr(result, name) for name in result.names}
    assert right["value"] == 5
    loss = (
        "edge 2: the flow from 1 to 2 is -1, and may be up to 9"
        if directed
        else "vertex 1: 2 of the flow is lost"
    )
    for values, says in (
        ({"flow": right["flow"] + [0, 0, 0, 0, -2]}, loss),
        ({"flow": right["flow"] + [1, 0, 0, 0, 1]}, "edge 0: the flow from 0 to 1 is 4, and may be up to 3"),
        ({"flow": right["flow"] * 0}, "value is 5, and should be 0"),
        (
            {"flow": right["flow"] * 0, "value": np.int64(0)},
            "vertex 0: in the cut, and the sink can be reached",
        ),
        ({"min_cut": np.zeros(4, bool)}, "vertex 0: not in the cut, and the sink cannot be reached"),
        ({"min_cut": np.array([True, True, False, False])}, "vertex 1: in the cut"),
    ):
        result._values.update(values)
        with pytest.raises(vg.VerificationError, match=says):
            vg.verify(result)
        result._values.update(right)
    vg.verify(result)


def test_the_graph_with_opposite_arcs_is_kept_until_capacities_change() -> None:
    graph = vg.Graph.from_edges([0, 1], [1, 2], capacity=[4, 3])
    made = [A.max_flow.prepare(graph, {"capacity": "capacity"})[0] for _ in range(2)]
    assert made[0] is made[1]
    assert made[0].num_arcs == 4
    more = graph.with_edge_property("capacity", np.array([4, 7]))
    assert vg.run(A.max_flow, more, source=0, sink=2).value == 4

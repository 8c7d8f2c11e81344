"""Graphs from edges against a naive model: a dict of rows, each a list of (target, values)."""

from __future__ import annotations

import pickle
import threading
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vgraph.errors import GraphError
from vgraph.graph import Graph
from vgraph.graph.arrays import memory_of, offset_dtype
from vgraph.graph.build import EdgeList, _in_rows, _sorted_csr, pack

Edge = tuple[int, int, int]


@st.composite
def edge_lists(draw: st.DrawFn) -> tuple[int, list[Edge]]:
    """A number of vertices, and edges with weights: often parallel, often self-loops, sometimes none."""
    n = draw(st.integers(0, 12))
    if n == 0:
        return 0, []
    vertex = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(vertex, vertex, st.integers(-5, 5)), max_size=40))


def model(edges: list[Edge], *, directed: bool, self_loops: bool, multi: Any) -> list[Edge]:
    """The arcs, sorted by source and target, with weights, as the documentation of `from_edges` says."""
    if not self_loops:
        edges = [edge for edge in edges if edge[0] != edge[1]]
    cells: dict[tuple[int, int], list[int]] = defaultdict(list)
    for u, v, w in edges:
        cells[(u, v) if directed else (min(u, v), max(u, v))].append(w)
    reduce = {True: list, False: lambda ws: ws[:1], "min": lambda ws: [min(ws)], "max": lambda ws: [max(ws)]}
    arcs = []
    for (u, v), weights in cells.items():
        kept = [sum(weights)] if multi == "sum" else reduce[multi](weights)
        arcs += [(u, v, k, w) for k, w in enumerate(kept)]
        if not directed and u != v:
            arcs += [(v, u, k, w) for k, w in enumerate(kept)]
    return [(u, v, w) for u, v, _, w in sorted(arcs)]


def arcs_of(graph: Graph, name: str = "weight") -> list[Edge]:
    """The arcs in out order, with their values."""
    sources = np.repeat(np.arange(graph.num_vertices), np.diff(graph.out.row_offsets.astype(np.int64)))
    columns = graph.out.column_indices.tolist()
    return list(zip(sources.tolist(), columns, graph.edge_properties[name].tolist(), strict=True))


def build(n: int, edges: list[Edge], **options: Any) -> Graph:
    columns = np.array(edges, np.int64).reshape(-1, 3)
    return Graph.from_edges(columns[:, 0], columns[:, 1], num_vertices=n, weight=columns[:, 2], **options)


@given(
    edge_lists(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([True, False, "min", "max", "sum"]),
    st.sampled_from([None, 64]),
)
def test_from_edges_is_the_model(
    case: tuple[int, list[Edge]], directed: bool, self_loops: bool, multi: Any, id_bits: int | None
) -> None:
    n, edges = case
    graph = build(n, edges, directed=directed, self_loops=self_loops, multi_edges=multi, id_bits=id_bits)
    expected = model(edges, directed=directed, self_loops=self_loops, multi=multi)
    assert arcs_of(graph) == expected
    loops = sum(u == v for u, v, _ in expected)
    assert graph.num_arcs == len(expected)
    assert graph.num_edges == (len(expected) if directed else (len(expected) + loops) // 2)
    dtype = np.uint64 if id_bits == 64 else np.uint32
    assert graph.id_dtype == graph.offset_dtype == dtype
    assert graph.out.row_offsets.dtype == graph.out.column_indices.dtype == dtype
    bare = Graph.from_edges(
        [u for u, _, _ in edges],
        [v for _, v, _ in edges],
        num_vertices=n,
        directed=directed,
        self_loops=self_loops,
        multi_edges=multi,
    )
    assert bare.out.column_indices.tolist() == [v for _, v, _ in expected]
    assert bare.num_edges == graph.num_edges


@given(edge_lists(), st.booleans(), st.booleans(), st.sampled_from([None, 64]))
def test_incoming_arcs_mirror_the_outgoing(
    case: tuple[int, list[Edge]], directed: bool, large: bool, id_bits: int | None
) -> None:
    n, edges = case
    graph = build(n, edges, directed=directed, id_bits=id_bits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vgraph.graph.rows.FROM", 0 if large else 1 << 20)
        incoming_arcs = graph.in_
    for array in (incoming_arcs.row_offsets, incoming_arcs.column_indices):
        assert array.dtype == graph.id_dtype
    targets = np.repeat(np.arange(n), np.diff(graph.in_.row_offsets.astype(np.int64))).tolist()
    sources = graph.in_.column_indices.tolist()
    incoming = list(zip(sources, targets, graph.in_property("weight").tolist(), strict=True))
    assert sorted(incoming) == sorted(arcs_of(graph))
    assert [(v, u) for u, v, _ in incoming] == sorted((v, u) for u, v, _ in incoming)
    assert graph.in_degree.tolist() == np.bincount([v for _, v, _ in arcs_of(graph)], minlength=n).tolist()
    assert graph.out_degree.tolist() == np.bincount([u for u, _, _ in arcs_of(graph)], minlength=n).tolist()
    assert (graph.in_ is graph.out) == (not directed)
    assert (graph.in_.edge_ids is None) == (not directed)


@given(edge_lists(), st.sampled_from([np.bool_, np.int32, np.float64]), st.integers(0, 2))
def test_the_ways_to_sort_agree(case: tuple[int, list[Edge]], dtype: type[np.generic], extra: int) -> None:
    n, edges = case
    columns = np.array(edges, np.int64).reshape(-1, 3)
    if not edges:
        return

    def arcs() -> EdgeList:
        values = {"weight": columns[:, 2].astype(dtype)}
        if extra > 0:
            values["position"] = np.arange(len(edges))
        if extra > 1:
            values["vector"] = np.stack((columns[:, 2], columns[:, 2] + 1), axis=1)
        return EdgeList(pack(columns[:, 0], columns[:, 1]), values, n)

    order = np.lexsort((columns[:, 1], columns[:, 0]))
    for offsets, targets, properties in (
        _sorted_csr(arcs()),
        _in_rows(arcs()),
    ):
        assert offsets.tolist() == [0, *np.cumsum(np.bincount(columns[:, 0], minlength=n)).tolist()]
        assert targets.tolist() == columns[order, 1].tolist()
        assert properties["weight"].dtype == dtype
        for name, values in arcs().properties.items():
            assert properties[name].tolist() == values[order].tolist()


@pytest.mark.parametrize("n", [1 << 18, 1 << 23])  # position and key in 64 bits; the counting sort
def test_large_random_graph_equals_scipy(n: int) -> None:
    from scipy.sparse import coo_array

    rng = np.random.default_rng(1)
    m = 600_000
    sources, targets = rng.integers(0, n, (2, m))
    sources[:1000], targets[:1000] = sources[1000:2000], targets[1000:2000]
    weight = rng.integers(1, 100, m)
    graph = Graph.from_edges(sources, targets, num_vertices=n, multi_edges="sum", weight=weight)
    expected = coo_array((weight, (sources, targets)), shape=(n, n)).tocsr()
    expected.sort_indices()
    np.testing.assert_array_equal(graph.out.row_offsets, expected.indptr)
    np.testing.assert_array_equal(graph.out.column_indices, expected.indices)
    np.testing.assert_array_equal(graph.edge_properties["weight"], expected.data)
    transposed = expected.tocsc()
    np.testing.assert_array_equal(graph.in_.row_offsets, transposed.indptr)
    np.testing.assert_array_equal(graph.in_.column_indices, transposed.indices)
    np.testing.assert_array_equal(graph.in_property("weight"), transposed.data)


@pytest.mark.parametrize(
    ("sources", "targets", "options", "message"),
    [
        ([0, -1], [1, 1], {}, r"sources\[1\] = -1 is negative"),
        ([0, 1], [1, 5], {"num_vertices": 5}, r"targets\[1\] = 5 is out of range: num_vertices is 5"),
        ([0, 1.5], [1, 1], {}, r"sources\[1\] = 1.5 is not a whole number"),
        ([0, np.nan], [1, 1], {}, r"sources\[1\] = nan is not a whole number"),
        ([0, np.inf], [1, 1], {}, r"sources\[1\] = inf is not a whole number"),
        ([0, 1], [1], {}, "2 sources, but 1 targets"),
        ([[0, 1]], [1], {}, r"sources must be one-dimensional, got shape \(1, 2\)"),
        (["a"], ["b"], {}, "sources must hold integers, got <U1"),
        ([None], [1], {}, r"sources must hold integers, got object \(None at position 0\)"),
        ([1 << 70], [1], {}, "does not fit 64 bits"),
        ([True], [False], {}, "sources must hold integers, got bool"),
        ([1 << 60], [1], {}, "1152921504606846977 vertices need"),
        ([0], [1], {"num_vertices": -1}, "num_vertices must not be negative"),
        ([0], [1], {"weight": [1, 2]}, "property 'weight' has 2 rows, but there are 1 edges"),
        ([0], [1], {"weight": 3}, r"must have one or two dimensions, got shape \(\)"),
        ([0], [1], {"weight": ["x"]}, "property 'weight' has dtype <U1; use bool"),
        ([0], [1], {"weight": [1j]}, "property 'weight' has dtype complex128"),
        ([0], [1], {"not a name": [1]}, "property name 'not a name' must be an identifier"),
        ([0], [1], {"vertex_properties": {"x": [1]}}, "property 'x' has 1 rows, but there are 2 vertices"),
        ([0], [1], {"id_bits": 16}, "id_bits must be 32, 64 or None"),
        ([0], [1], {"multi_edges": "mean"}, "multi_edges must be"),
        ([0], [1], {"directed": "no"}, "directed must be True or False, got 'no'"),
        ([0], [1], {"self_loops": None}, "self_loops must be True or False"),
    ],
)
def test_bad_input_is_refused(sources: Any, targets: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Graph.from_edges(sources, targets, **options)


def test_whole_floats_and_unsigned_ids_are_accepted() -> None:
    graph = Graph.from_edges(np.array([0.0, 2.0]), np.array([1, 0], np.uint8))
    assert graph.num_vertices == 3
    assert graph.out.column_indices.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("given_dtype", "stored"),
    [
        ("?", "?"),
        ("i1", "i4"),
        ("u2", "i4"),
        ("i4", "i4"),
        (">i8", "i8"),
        ("u4", "u4"),
        ("u8", "u8"),
        ("f2", "f4"),
        ("f4", "f4"),
        ("f8", "f8"),
    ],
)
def test_property_dtypes(given_dtype: str, stored: str) -> None:
    values = np.array([1, 0, 1]).astype(given_dtype)
    graph = Graph.from_edges([2, 1, 0], [0, 0, 1], weight=values, vertex_properties={"p": values})
    for array in (graph.edge_properties["weight"], graph.vertex_properties["p"]):
        assert array.dtype == np.dtype(stored)
        assert array.tolist() == values.tolist()


def test_arrays_are_read_only_and_do_not_alias_the_input() -> None:
    weight = np.array([1.0, 2.0])
    x = np.zeros((2, 3), np.float32)
    graph = Graph.from_edges([0, 1], [1, 0], weight=weight, vertex_properties={"x": x})
    weight[0], x[0] = 9, 9
    assert graph.edge_properties["weight"].tolist() == [1, 2]
    assert not graph.vertex_properties["x"].any()
    arrays = [
        graph.out.row_offsets,
        graph.in_.edge_ids,
        graph.in_property("weight"),
        graph.out_degree,
        *graph.edge_properties.values(),
        *graph.vertex_properties.values(),
    ]
    for array in arrays:
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(TypeError):
        graph.edge_properties["weight"] = weight  # type: ignore[index]
    with pytest.raises(AttributeError):
        graph.weight = weight  # type: ignore[attr-defined]


def test_with_property_shares_the_topology() -> None:
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0], weight=[1, 2, 3])
    incoming = graph.in_property("weight")
    more = graph.with_edge_property("cost", [0.5, 1.5, 2.5]).with_vertex_property("x", [1, 2, 3])
    assert more.out is graph.out
    assert more.in_ is graph.in_
    assert memory_of(more.in_property("weight")) is memory_of(incoming)
    assert list(more.edge_properties) == ["weight", "cost"]
    assert list(graph.edge_properties) == ["weight"]
    replaced = more.with_edge_property("weight", [7, 8, 9])
    assert replaced.in_property("weight").tolist() == [9, 7, 8]
    assert graph != more
    assert graph == graph


def test_an_undirected_property_must_be_symmetric() -> None:
    graph = Graph.from_edges([0, 0, 1, 1], [1, 1, 2, 1], directed=False, weight=[4, 3, np.nan, 1])
    doubled = graph.edge_properties["weight"] * 2
    np.testing.assert_array_equal(graph.with_edge_property("twice", doubled).in_property("twice"), doubled)
    with pytest.raises(GraphError, match="'w' is not symmetric: 1 from 0 to 1, 2 back"):
        graph.with_edge_property("w", np.where(np.arange(graph.num_arcs) == 0, 1, 2))


def test_property_range() -> None:
    graph = Graph.from_edges(
        [0, 1, 2],
        [1, 2, 0],
        a=[3, -1, 2],
        b=[np.nan, 2.5, -np.inf],
        c=[np.nan] * 3,
        d=[[1, 2], [3, 4], [5, 6]],
    )
    assert graph.edge_property_range("a") == (-1, 3, False)
    assert graph.edge_property_range("b") == (-np.inf, 2.5, True)
    assert graph.edge_property_range("d") == (1, 6, False)
    assert graph.edge_property_range("c") == (np.inf, -np.inf, True)
    assert Graph.from_edges([], [], weight=[]).edge_property_range("weight") == (np.inf, -np.inf, False)
    both = Graph.from_edges([0, 1], [1, 2], weight=[np.inf, -np.inf])
    assert np.isnan(both.edge_property_mean("weight"))  # without a warning
    with pytest.raises(GraphError, match="no edge property 'cost'; it has: a, b, c, d"):
        graph.edge_property_range("cost")


def test_repr_and_sizes() -> None:
    graph = Graph.from_edges(
        [0, 1], [1, 1], directed=False, weight=[1, 2], vertex_properties={"x": [[1.0]] * 2}
    )
    assert repr(graph) == (
        "Graph(2 vertices; 2 undirected edges; "
        "edge properties: weight int64; vertex properties: x float64[1])"
    )
    assert (graph.num_edges, graph.num_arcs, graph.max_degree) == (2, 3, 2)
    assert graph.nbytes == 3 * 4 + 3 * 4 + 3 * 8 + 2 * 8
    assert Graph.from_edges([], []).max_degree == 0


def test_pickle_keeps_everything() -> None:
    graph = Graph.from_edges(
        [0, 1, 1],
        [1, 1, 2],
        directed=False,
        id_bits=64,
        weight=[1.5, 2, 3],
        vertex_properties={"x": [1, 2, 3]},
    )
    copy = pickle.loads(pickle.dumps(graph))
    assert repr(copy) == repr(graph)
    assert copy.out.row_offsets.tolist() == graph.out.row_offsets.tolist()
    assert copy.id_dtype == np.uint64
    assert not copy.edge_properties["weight"].flags.writeable
    assert copy.in_ is copy.out


def test_the_transpose_is_built_once_by_many_threads() -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(*rng.integers(0, 5000, (2, 200_000)), weight=rng.random(200_000))
    barrier, seen = threading.Barrier(8), []

    def ask() -> None:
        barrier.wait()
        seen.append((graph.in_, graph.in_property("weight")))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(adjacency) for adjacency, _ in seen}) == 1
    assert len({id(memory_of(values)) for _, values in seen}) == 1


def test_offsets_of_32_bits_leave_room_for_a_step_beyond_the_last_arc():
    assert offset_dtype(1 << 31, None) == np.uint32
    assert offset_dtype((1 << 32) - 512, None) == np.uint64

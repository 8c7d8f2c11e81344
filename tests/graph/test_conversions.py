"""Graphs from and to CSR arrays, SciPy, NetworkX and pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from vgraph.errors import GraphError
from vgraph.graph import Graph


def same(left: Graph, right: Graph) -> bool:
    """Whether two graphs hold the same arcs and edge properties."""
    return (
        left.directed == right.directed
        and left.num_edges == right.num_edges
        and left.out.row_offsets.tolist() == right.out.row_offsets.tolist()
        and left.out.column_indices.tolist() == right.out.column_indices.tolist()
        and {name: values.tolist() for name, values in left.edge_properties.items()}
        == {name: values.tolist() for name, values in right.edge_properties.items()}
    )


@st.composite
def graphs(draw: st.DrawFn, multi: Any = True) -> Graph:
    n = draw(st.integers(1, 8))
    vertex = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex, st.integers(1, 9)), max_size=20))
    columns = np.array(edges, np.int64).reshape(-1, 3)
    directed = draw(st.booleans())
    return Graph.from_edges(
        columns[:, 0],
        columns[:, 1],
        num_vertices=n,
        directed=directed,
        multi_edges=multi,
        weight=columns[:, 2],
    )


@given(graphs())
def test_csr_round_trip(graph: Graph) -> None:
    again = Graph.from_csr(
        graph.out.row_offsets, graph.out.column_indices, directed=graph.directed, **graph.edge_properties
    )
    assert same(graph, again)


@given(graphs(multi=False))
def test_scipy_round_trip(graph: Graph) -> None:
    matrix = graph.to_scipy()
    assert matrix.shape == (graph.num_vertices,) * 2
    for form in ("csr", "csc", "coo"):
        assert same(graph, Graph.from_scipy(matrix.asformat(form), directed=graph.directed))


@given(graphs())
def test_networkx_round_trip(graph: Graph) -> None:
    again = Graph.from_networkx(graph.to_networkx())
    if not graph.num_edges:  # without edges there are no attributes either
        graph = Graph.from_edges([], [], num_vertices=graph.num_vertices, directed=graph.directed)
    assert same(graph, again)


@given(graphs())
def test_pandas_round_trip(graph: Graph) -> None:
    frame = graph.to_pandas()
    again = Graph.from_pandas(frame, num_vertices=graph.num_vertices, directed=graph.directed)
    assert same(graph, again)


def test_csr_rows_are_sorted_with_their_properties() -> None:
    graph = Graph.from_csr(
        [0, 3, 3, 4], [2, 0, 1, 0], weight=[1.0, 2.0, 3.0, 4.0], vertex_properties={"x": [1, 2, 3]}
    )
    assert graph.out.column_indices.tolist() == [0, 1, 2, 0]
    assert graph.edge_properties["weight"].tolist() == [2, 3, 1, 4]
    assert graph.vertex_properties["x"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("read_only", [False, True])
def test_csr_arrays_are_copied(read_only: bool) -> None:
    """Read-only ones as well: who made them so can make them writable again."""
    arrays = {
        "row_offsets": np.array([0, 1, 2], np.uint32),
        "column_indices": np.array([1, 0], np.uint32),
        "weight": np.array([5, 6], np.int32),
    }
    x = np.array([7, 8], np.int32)
    for array in (*arrays.values(), x):
        array.flags.writeable = not read_only
    graph = Graph.from_csr(**arrays, vertex_properties={"x": x})
    graph = graph.with_edge_property("cost", arrays["weight"]).with_vertex_property("y", x)
    for array in (*arrays.values(), x):
        array.flags.writeable = True
        array[:] = 99
    assert graph.out.row_offsets.tolist() == [0, 1, 2]
    assert graph.out.column_indices.tolist() == [1, 0]
    assert [values.tolist() for values in graph.edge_properties.values()] == [[5, 6], [5, 6]]
    assert [values.tolist() for values in graph.vertex_properties.values()] == [[7, 8], [7, 8]]


@pytest.mark.parametrize(
    ("offsets", "columns", "options", "message"),
    [
        ([], [], {}, "row_offsets is empty"),
        ([0, 2], [0], {}, "from 0 to the number of column_indices, 1; it goes from 0 to 2"),
        ([0, 2, 1], [0], {}, "must ascend; it falls after entry 1"),
        ([0, 1], [3], {}, r"column_indices\[0\] = 3 is out of range"),
        ([0, 1, 1], [1], {"directed": False}, "not symmetric"),
        (
            [0, 1, 2],
            [1, 0],
            {"directed": False, "weight": [1, 2]},
            "'weight' is not symmetric: 1 from 0 to 1, 2 back",
        ),
        ([0, 1, 1], [1], {"weight": [1, 2]}, "has 2 rows, but there are 1 arcs"),
    ],
)
def test_bad_csr_is_refused(offsets: Any, columns: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Graph.from_csr(offsets, columns, **options)


def test_scipy_options() -> None:
    matrix = sparse.coo_array(([1, 2, 0, 4], ([0, 0, 1, 2], [1, 1, 1, 0])), shape=(3, 3))
    graph = Graph.from_scipy(matrix, weight="cost")
    assert graph.edge_properties["cost"].tolist() == [1, 2, 0, 4]
    graph = Graph.from_scipy(matrix.tocsr(), multi_edges="max", self_loops=False, weight=None)
    assert (graph.num_edges, dict(graph.edge_properties)) == (2, {})
    with pytest.raises(GraphError, match="square matrix, got 2 x 3"):
        Graph.from_scipy(sparse.csr_array((2, 3)))
    with pytest.raises(GraphError, match="not symmetric"):
        Graph.from_scipy(matrix, directed=False)
    with pytest.raises(GraphError, match="expected a SciPy sparse matrix or array, got ndarray"):
        Graph.from_scipy(np.eye(2))


def test_to_scipy_properties() -> None:
    graph = Graph.from_edges([0, 1], [1, 0], cost=[1.5, 2.5], vector=[[1, 2], [3, 4]])
    assert graph.to_scipy().toarray().tolist() == [[0, 1], [1, 0]]
    assert graph.to_scipy("cost").toarray().tolist() == [[0, 1.5], [2.5, 0]]
    with pytest.raises(GraphError, match="holds vectors"):
        graph.to_scipy("vector")
    with pytest.raises(GraphError, match="no edge property 'weight'"):
        graph.to_scipy("weight")


def test_networkx_labels_and_attributes() -> None:
    import networkx as nx

    g = nx.MultiDiGraph()
    g.add_node(30, x=1.0)
    g.add_node(10, x=2.0)
    g.add_edge(30, 10, weight=5, lanes=2)
    g.add_edge(30, 10, lanes=3)
    graph = Graph.from_networkx(g, edge_attributes=["lanes"], node_attributes=["x"])
    assert graph.vertex_properties["id"].tolist() == [30, 10]
    assert graph.vertex_properties["x"].tolist() == [1, 2]
    assert graph.edge_properties["weight"].tolist() == [5, 1]
    assert graph.edge_properties["lanes"].tolist() == [2, 3]
    assert not Graph.from_networkx(g, weight=None).edge_properties
    with pytest.raises(GraphError, match="30 has no attribute 'y'"):
        Graph.from_networkx(g, node_attributes=["y"])
    named = Graph.from_networkx(nx.Graph([("a", "b"), ("b", "c")]))
    assert (named.num_vertices, named.num_edges, named.directed) == (3, 2, False)
    back = Graph.from_edges([0, 0], [1, 1], weight=[1, 2], vertex_properties={"x": [3, 4]}).to_networkx()
    assert isinstance(back, nx.MultiDiGraph)
    assert [data["weight"] for *_, data in back.edges(data=True)] == [1, 2]
    assert back.nodes[1] == {"x": 4}


def test_pandas_columns() -> None:
    import pandas as pd

    frame = pd.DataFrame({"from": [0, 1], "to": [1, 2], "cost": [1.5, 2.5], "lanes": [1, 2]})
    graph = Graph.from_pandas(frame, "from", "to", edge_properties=["cost"])
    assert list(graph.edge_properties) == ["cost"]
    assert list(Graph.from_pandas(frame, "from", "to").edge_properties) == ["cost", "lanes"]
    with pytest.raises(GraphError, match="no column 'source'; it has: from, to, cost, lanes"):
        Graph.from_pandas(frame)
    vectors = Graph.from_edges([0], [1], v=[[1, 2]])
    assert list(vectors.to_pandas().columns) == ["source", "target", "v_0", "v_1"]

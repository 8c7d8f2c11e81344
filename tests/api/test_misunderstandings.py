"""What is given by mistake, and what the message says to give instead."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import vgraph as vg


def of_networkx() -> Any:
    return pytest.importorskip("networkx").path_graph(4)


def of_igraph() -> Any:
    return pytest.importorskip("igraph").Graph([(0, 1), (1, 2), (2, 3)])


def of_networkit() -> Any:
    graph = pytest.importorskip("networkit").Graph(4)
    for u in range(3):
        graph.addEdge(u, u + 1)
    return graph


def of_scipy() -> Any:
    scipy = pytest.importorskip("scipy.sparse")
    return scipy.csr_matrix(np.eye(4, k=1) + np.eye(4, k=-1))


@pytest.mark.parametrize("make", [of_networkx, of_igraph, of_networkit, of_scipy])
def test_a_graph_of_another_library(make: Any) -> None:
    """The message has the call that makes a vg.Graph of it."""
    given = make()
    with pytest.raises(vg.ParameterError, match=r"^the graph is a \w+ of \w+; give a vg\.Graph: ") as caught:
        vg.run(vg.algorithms.bfs, given, source=0)
    call = str(caught.value).partition("vg.Graph: ")[2]
    made = eval(call, {"vg": vg, "graph": given, "matrix": given})
    assert vg.run(vg.algorithms.bfs, made, source=0).level.tolist() == [0, 1, 2, 3]


def test_something_that_is_no_graph() -> None:
    with pytest.raises(
        vg.ParameterError, match=r"the graph is a list; give a vg\.Graph: vg\.Graph\.from_edges"
    ):
        vg.run(vg.algorithms.bfs, [(0, 1)], source=0)


@pytest.mark.parametrize("given", [{}, {"weight": [1.0]}])
def test_edge_properties_are_keywords(given: dict[str, Any]) -> None:
    with pytest.raises(vg.GraphError, match="each property of edges is a keyword of its own"):
        vg.Graph.from_edges([0], [1], edge_properties=given)


@pytest.mark.parametrize(
    ("given", "meant"),
    [(np.float64, "float64"), (float, "float64"), (bool, "bool_"), (np.dtype("u4"), "uint32")],
)
def test_types_of_python_and_numpy(given: object, meant: str) -> None:
    for make in (vg.vertex_property, vg.edge_property, lambda t: vg.vector(t, 3)):
        with pytest.raises(vg.DeclarationError, match=rf"; write vg\.{meant}$"):
            make(given)
    with pytest.raises(vg.DeclarationError, match=re.escape("not <class 'str'>") + "$"):
        vg.vertex_property(str)


def test_bools_are_no_lengths() -> None:
    graph = vg.Graph.from_edges([0, 1], [1, 2], weight=[True, True])
    with pytest.raises(vg.ParameterError, match="bools are no lengths") as caught:
        vg.run(vg.algorithms.sssp, graph, source=0)
    call = str(caught.value).partition("of them by ")[2].partition(", or leave")[0]
    made = eval(call, {"graph": graph})
    assert vg.run(vg.algorithms.sssp, made, source=0).dist.tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["widest_path", "minimum_spanning_forest"])
def test_bools_are_no_widths(name: str) -> None:
    graph = vg.Graph.from_edges([0, 1], [1, 2], weight=[True, True])
    with pytest.raises(vg.ParameterError, match="bools are no") as caught:
        vg.run(getattr(vg.algorithms, name), graph, **({"source": 0} if name == "widest_path" else {}))
    made = eval(str(caught.value).partition("of them by ")[2], {"graph": graph})
    vg.run(getattr(vg.algorithms, name), made, **({"source": 0} if name == "widest_path" else {}))

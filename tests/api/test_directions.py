"""`graph: vg.undirected` and `graph: vg.directed` in a signature, checked before anything runs."""

from __future__ import annotations

import pytest

import vgraph as vg

TYPE_CHECKING = False
if TYPE_CHECKING:
    from somewhere import Missing

WAYS = {way: vg.Graph.from_edges([0], [1], directed=way) for way in (True, False)}


@vg.algorithm
def both_ways(graph: vg.undirected):
    graph.size = graph.num_vertices
    return graph.size


@vg.algorithm
def one_way(graph: vg.directed, more=1):
    graph.size = graph.num_vertices + more
    return graph.size


@vg.algorithm
def calls(graph, more=2):
    graph.size = one_way(graph, more=more).size
    return graph.size


@vg.algorithm
def either(graph: Missing):
    graph.size = graph.num_vertices
    return graph.size


@pytest.mark.parametrize("device", ["python", "cpu"])
@pytest.mark.parametrize("algorithm", [both_ways, one_way, calls])
def test_other_graphs_are_refused(algorithm: vg.AlgorithmDef, device: str) -> None:
    taken = algorithm is not both_ways
    assert vg.run(algorithm, WAYS[taken], device=device).size >= 2
    word = "directed" if taken else "undirected"
    said = rf"of {word} graphs; build the graph with directed={taken}"
    with pytest.raises(vg.ParameterError, match=said):
        vg.run(algorithm, WAYS[not taken], device=device)


def test_it_is_shown() -> None:
    assert vg.explain(both_ways, WAYS[False]).algorithm == "both_ways(graph: vg.undirected)"
    assert repr((vg.directed, vg.undirected)) == "(vg.directed, vg.undirected)"


def test_other_annotations_are_not_looked_at() -> None:
    for graph in WAYS.values():
        assert vg.run(either, graph).size == 2

    @vg.algorithm
    def misspelt(graph: vg.undirectd):
        graph.size = graph.num_vertices
        return graph.size

    with pytest.raises(vg.ParameterError, match="annotation of misspelt cannot be evaluated"):
        vg.run(misspelt, WAYS[True])

"""Algorithms of the user's that run on another graph, with other arguments, by `prepares` and `vg.Prepared`."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg


@vg.operator
def note(v, graph):
    v.number = v.id
    v.arcs = v.out_degree
    v.sum = graph.amount


@vg.algorithm
def noted(graph, amount: vg.int64 = 1):
    number = graph.vertex_property(vg.int64)
    arcs = graph.vertex_property(vg.int64)
    sum = graph.vertex_property(vg.int64)
    graph.amount = amount
    graph.vertex_apply(note)
    return number, arcs, sum


@noted.prepares
def backwards(graph: vg.Graph, amount: int) -> vg.Prepared:
    """Vertices in the opposite order, arcs the other way round, and twice the amount."""
    sources, targets, _ = graph.edges()
    rank = graph.num_vertices - 1 - np.arange(graph.num_vertices)
    other = vg.Graph.from_edges(rank[targets], rank[sources], num_vertices=graph.num_vertices)
    return vg.Prepared(other, rank, {"amount": 2 * amount})


@pytest.mark.parametrize("device", ["python", "cpu"])
def test_results_come_back_in_the_order_of_the_users_graph(device: str) -> None:
    graph = vg.Graph.from_edges([0, 1, 3], [2, 2, 1], num_vertices=4)
    result = vg.run(noted, graph, amount=5, device=device)
    assert result.number.tolist() == [3, 2, 1, 0]
    assert result.arcs.tolist() == graph.in_degree.tolist() == [0, 1, 2, 0]
    assert result.sum.tolist() == [10] * 4


def test_by_default_numbers_and_arguments_stay() -> None:
    graph = vg.Graph.from_edges([0], [1])
    assert vg.Prepared(graph) == (graph, None, {})


def test_parameters_of_preparations_are_not_the_users() -> None:
    graph = vg.Graph.from_edges([0], [1])
    with pytest.raises(
        vg.ParameterError, match=r"^spmm has no parameter '_rows'; it is spmm\(.*transposed=None\)$"
    ):
        vg.run(vg.algorithms.spmm, graph, dense=np.ones((2, 1)), _rows=vg.int32)
    with pytest.raises(vg.ParameterError, match="has no parameter 'rows'"):
        vg.run(vg.algorithms.spmm, graph, dense=np.ones((2, 1)), rows=vg.int32)


def test_what_else_is_returned_is_an_error_of_the_user() -> None:
    @vg.algorithm
    def same(graph):
        return graph.vertex_property(vg.int64)

    @same.prepares
    def forgotten(graph: vg.Graph) -> None:
        """Returns nothing."""

    with pytest.raises(vg.ParameterError, match="forgotten, which prepares same, returned None"):
        vg.run(same, vg.Graph.from_edges([0], [1]))


@pytest.mark.parametrize("kind", ["requires", "prepares"])
def test_what_asks_for_no_parameter_of_the_algorithm_is_refused(kind):
    def hook(graph, sourse):
        """A name that is misspelt."""

    with pytest.raises(vg.VGraphError, match=r"hook asks for 'sourse', which is no parameter of noted\("):
        getattr(noted, kind)(hook)


def test_what_finishes_by_no_result_is_refused():
    @vg.algorithm
    def counted(graph):
        total = graph.num_vertices
        return total  # noqa: RET504

    @counted.finishes
    def whole(totals):
        return {"total": totals}

    with pytest.raises(vg.VGraphError, match="asks for 'totals'; the results are total"):
        vg.run(counted, vg.Graph.from_edges([0], [1]))

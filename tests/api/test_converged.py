"""`result.converged`: whether an iteration met its own criterion, on every result."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from library_arguments import NAMES, arguments_for, graph_for

import vgraph as vg
from vgraph.compiler.frontend.lowering.algorithms import RESERVED
from vgraph.runtime.result import Result

A = vg.algorithms
KARATE = vg.read(vg.data.path("karate"), directed=False)
STAR = vg.Graph.from_edges([0, 0, 0], [1, 2, 3], directed=False)
DEVICES = ["cpu", "python"]


@pytest.mark.parametrize("name", NAMES)
def test_every_result_says_so(name: str) -> None:
    algorithm = getattr(A, name)
    graph = KARATE.with_edge_property("weight", np.ones(KARATE.num_arcs, np.int32))
    graph = graph_for(algorithm, graph)
    result = vg.run(algorithm, graph, **arguments_for(algorithm, graph))
    assert result.converged is True or name in ("pagerank", "hits", "label_propagation")
    assert isinstance(result.converged, bool)
    assert "converged" not in result.names


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("algorithm", "graph", "enough", "few"),
    [
        (A.pagerank, KARATE, {"max_rounds": 200}, {"max_rounds": 20}),
        (A.pagerank, KARATE, {"tolerance": 0.1}, {"tolerance": 0.1, "max_rounds": 1}),
        (
            A.pagerank,
            KARATE,
            {"dtype": vg.float32, "tolerance": 1e-4},
            {"dtype": vg.float32, "max_rounds": 9},
        ),
        (A.pagerank, KARATE, {"max_rounds": 200}, {"max_rounds": 0}),
        (A.hits, KARATE, {"max_rounds": 300}, {"max_rounds": 2}),
        (A.label_propagation, KARATE, {"max_rounds": 20}, {"max_rounds": 1}),
        (A.label_propagation, KARATE, {"max_rounds": 20}, {"max_rounds": 0}),
        (A.diameter, KARATE, {}, {"max_searches": 1}),
        (A.louvain, KARATE, {}, {"max_levels": 1}),
        (A.leiden, KARATE, {}, {"max_levels": 1}),
    ],
)
def test_stopping_early_is_told(
    algorithm: vg.AlgorithmDef, graph: vg.Graph, enough: dict[str, Any], few: dict[str, Any], device: str
) -> None:
    assert vg.run(algorithm, graph, device=device, **enough).converged is True
    result = vg.run(algorithm, graph, device=device, **few)
    assert result.converged is False
    assert "not converged" in repr(result)
    vg.verify(result)
    assert pickle.loads(pickle.dumps(result)).converged is False


@pytest.mark.parametrize("device", DEVICES)
def test_labels_that_take_turns_do_not_converge(device: str) -> None:
    """Synchronous label propagation swings on a star: no number of rounds is enough."""
    result = vg.run(A.label_propagation, STAR, max_rounds=50, device=device)
    assert result.converged is False


def test_the_round_that_shows_it_may_be_the_last() -> None:
    rounds = vg.run(A.label_propagation, KARATE, max_rounds=50).stats.rounds - 1  # one begins
    assert vg.run(A.label_propagation, KARATE, max_rounds=rounds).converged is True
    assert vg.run(A.label_propagation, KARATE, max_rounds=rounds - 1).converged is False


@pytest.mark.parametrize("name", ["leiden", "louvain"])
def test_a_level_that_was_cut_short(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vgraph.algorithms._moves.SWEEPS", 1)
    result = vg.run(getattr(A, name), KARATE)
    assert result.converged is False
    monkeypatch.setattr("vgraph.verifiers.communities.MOVES", 4)
    vg.verify(result)


def test_no_rounds_are_asked_for_and_done() -> None:
    """A tolerance of 0 asks for all rounds; they have converged if the last of them changed nothing at all."""
    assert vg.run(A.pagerank, KARATE, tolerance=0.0).converged is False
    alone = vg.Graph.from_edges([], [], num_vertices=3)
    assert vg.run(A.pagerank, alone, tolerance=0.0, damping=0.5, max_rounds=3).converged is True
    empty = vg.Graph.from_edges([], [], num_vertices=0)
    assert vg.run(A.pagerank, empty).converged is True


@pytest.mark.parametrize(
    ("algorithm", "given"),
    [
        (A.katz, {"max_rounds": 2}),
        (A.eigenvector, {"max_rounds": 2}),
        (A.conjugate_gradient, {"max_rounds": 0, "b": np.ones(34)}),
    ],
)
def test_what_is_no_answer_is_an_error(algorithm: vg.AlgorithmDef, given: dict[str, Any]) -> None:
    with pytest.raises(vg.AlgorithmError, match="not converged"):
        vg.run(algorithm, graph_for(algorithm, KARATE), **given)


@vg.operator
def halve(v, graph):
    v.x = v.x / 2
    graph.change += v.x


@vg.algorithm
def halving(graph, max_rounds=5):
    x = graph.vertex_property(vg.float64, fill=1)
    graph.change = vg.inf
    rounds = 0
    while rounds < max_rounds and graph.change > 0.01:
        graph.change = 0.0
        graph.vertex_apply(halve)
        rounds += 1
    converged = graph.change <= 0.01
    return converged, x


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("relabel", [None, "degree"])
def test_algorithms_of_ones_own(device: str, relabel: str | None) -> None:
    few = vg.run(halving, STAR, device=device, relabel=relabel)
    assert (few.converged, few.names) == (False, ("x",))
    assert vg.run(halving, STAR, max_rounds=20, device=device, relabel=relabel).converged is True


@vg.algorithm
def halving_some(graph, max_rounds=5):
    x = graph.vertex_property(vg.float64, fill=1)
    graph.change = vg.inf
    rounds = 0
    while rounds < max_rounds and graph.change > 0.01:
        graph.change = 0.0
        graph.vertex_apply(halve)
        rounds += 1
    converged = graph.change <= 0.01
    return x, converged


@halving_some.finishes
def first(x: Any) -> dict[str, Any]:
    """The number of the first vertex."""
    return {"first": x[0]}


def test_results_that_are_finished_keep_it() -> None:
    result = vg.run(halving_some, STAR)
    assert (result.first, result.converged, result.names) == (2.0**-5, False, ("first",))
    assert result.reordered(np.arange(4)).converged is False


def test_names_that_results_have_of_their_own() -> None:
    """None of them can be returned by an algorithm: it could not be read."""
    own = {name for name in {*dir(Result), *vars(vg.run(A.bfs, STAR, source=0))} if not name.startswith("_")}
    assert own - {"level", "parent"} == set(RESERVED)

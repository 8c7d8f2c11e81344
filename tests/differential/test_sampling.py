"""Walks and samples: the same on every device, and with the chances that their definitions give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vgraph as vg

A = vg.algorithms


def made(directed: bool, n: int = 9, m: int = 22) -> vg.Graph:
    """With self-loops, parallel edges, and arcs that weigh nothing."""
    rng = np.random.default_rng(8)
    weight = rng.integers(0, 4, m)
    return vg.Graph.from_edges(*rng.integers(0, n, (2, m)), num_vertices=n, directed=directed, weight=weight)


def chances(graph: vg.Graph, p: float, q: float, weight: str | None) -> np.ndarray:
    """chance[a, b, c]: that a walk which came from a to b goes on to c."""
    matrix = graph.with_edge_property("one", np.ones(graph.num_arcs)).to_scipy(weight or "one").toarray()
    near = graph.with_edge_property("one", np.ones(graph.num_arcs)).to_scipy("one").toarray() > 0
    n = graph.num_vertices
    bias = np.where(near[:, None, :], 1.0, 1 / q) * np.ones((n, n, n))
    bias[np.arange(n), :, np.arange(n)] = 1 / p
    chance = matrix[None] * bias
    whole = chance.sum(axis=2, keepdims=True)
    return np.divide(chance, whole, out=np.zeros_like(chance), where=whole > 0)


@pytest.mark.parametrize(("directed", "weight"), [(True, None), (False, "weight")])
def test_walks_go_where_they_should(directed: bool, weight: str | None) -> None:
    graph = made(directed)
    n, how = graph.num_vertices, {"length": 12, "p": 0.4, "q": 3.0, "weight": weight}
    found = vg.run(A.node2vec_walks, graph, threads=2, **how)
    vg.verify(found)
    for other in ({"threads": 1}, {"device": "python"}):
        np.testing.assert_array_equal(found.path, vg.run(A.node2vec_walks, graph, **how, **other).path)
    seen = np.zeros((n, n, n))
    for seed in range(200):
        path = vg.run(A.node2vec_walks, graph, seed=seed, **how).path
        triples = np.stack([path[:, :-2], path[:, 1:-1], path[:, 2:]]).reshape(3, -1)
        np.add.at(seen, tuple(triples[:, (triples >= 0).all(axis=0)]), 1)
    chance, often = chances(graph, 0.4, 3.0, weight), seen.sum(axis=2, keepdims=True)
    off = np.abs(seen - often * chance) / np.sqrt(np.maximum(often * chance * (1 - chance), 1))
    assert off.max() < 5
    assert (seen[chance == 0] == 0).all()
    assert (seen > 0).sum() > 30


@pytest.mark.parametrize("directed", [True, False])
def test_samples_of_neighborhoods(directed: bool) -> None:
    graph = made(directed, n=12, m=50)
    seeds, fan_outs = np.array([3, 7, 3]), np.array([2, 3])
    found = vg.run(A.neighbor_sampling, graph, seeds=seeds, fan_outs=fan_outs, threads=2)
    vg.verify(found)
    for other in ({"threads": 1}, {"device": "python"}):
        again = vg.run(A.neighbor_sampling, graph, seeds=seeds, fan_outs=fan_outs, **other)
        np.testing.assert_array_equal(found.edges, again.edges)
        np.testing.assert_array_equal(found.hop, again.hop)
    seen = np.zeros(12)
    for seed in range(150):
        sample = vg.run(A.neighbor_sampling, graph, seeds=seeds, fan_outs=fan_outs, seed=seed)
        np.add.at(seen, sample.edges[sample.edges[:, 0] == 3][:, 1], 1)
    degree = int(graph.out_degree[3])
    assert degree > 3
    rows = graph.out
    arcs = np.bincount(rows.column_indices[rows.row_offsets[3] : rows.row_offsets[4]], minlength=12)
    expected = 150 * arcs * 2 / degree
    assert (np.abs(seen - expected) <= 5 * np.sqrt(expected)).all()


def test_few_vertices_and_arcs() -> None:
    for how in ({}, {"device": "python"}):
        for n in (0, 1):
            graph = vg.Graph.from_edges([], [], num_vertices=n)
            path = vg.run(A.node2vec_walks, graph, length=2, **how).path
            assert path.tolist() == [[0, -1, -1]] * n
            sample = vg.run(A.neighbor_sampling, graph, seeds=np.arange(n), fan_outs=[4], **how)
            assert (sample.hop.tolist(), sample.edges.shape) == ([0] * n, (0, 2))
        loop = vg.Graph.from_edges([0], [0])
        assert vg.run(A.node2vec_walks, loop, length=2, **how).path.tolist() == [[0, 0, 0]]


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("node2vec_walks", {"length": 0}, "length=0"),
        ("node2vec_walks", {"p": 0.0}, "p=0.0"),
        ("node2vec_walks", {"weight": "height"}, "no such edge property"),
        ("neighbor_sampling", {"seeds": [1], "fan_outs": [2, 0]}, "above 0"),
        ("neighbor_sampling", {"seeds": [99], "fan_outs": [2]}, "seeds"),
    ],
)
def test_what_is_refused(name: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(vg.ParameterError, match=message):
        vg.run(getattr(A, name), made(True), **given)


def test_wrong_walks_and_samples_are_found() -> None:
    graph = vg.Graph.from_edges([0, 1, 1, 2], [1, 2, 2, 0], num_vertices=4)
    walk = vg.run(A.node2vec_walks, graph, length=2)
    sample = vg.run(A.neighbor_sampling, graph, seeds=[1], fan_outs=[1, 1])
    assert sample.edges.tolist() == [[1, 2], [2, 0]]
    for result, name, at, value, message in (
        (walk, "path", (0, 1), 2, "vertex 0: no step of a walk leads from 0 to 2, step 1"),
        (walk, "path", (3, 1), 0, "vertex 3: no step of a walk leads from 3 to 0"),
        (walk, "path", (1, 2), -1, "from 2 to -1, step 2"),
        (sample, "hop", (3,), 2, "vertex 3: hop is 2, and should be -1"),
        (sample, "hop", (0,), 0, "vertex 0: hop is 0, and it is no seed"),
        (sample, "edges", (0, 1), 0, "the arc to 0 is taken 1 times, and there 0 times"),
        (sample, "edges", (1, 0), 1, "vertex 1: 2 arcs are taken, and should be 1"),
    ):
        values = getattr(result, name)
        right = values[at]
        values[at] = value
        with pytest.raises(vg.VerificationError, match=message):
            vg.verify(result, graph)
        values[at] = right
        vg.verify(result, graph)

"""Disjoint sets: paths that are halved on the way, as on large graphs, and tables of what a block knows of sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matrix import shaped
from numpy.typing import NDArray

import vgraph as vg
from vgraph.runtime import policy


def paths(seed: int, **options: Any) -> tuple[vg.Graph, NDArray[np.int64]]:
    """Long paths whose ids are mixed, and the smallest id of the path of each vertex."""
    rng = np.random.default_rng(seed)
    n = 150
    near = np.arange(n - 1)[rng.random(n - 1) < 0.8]
    ids = rng.permutation(n)
    graph = vg.Graph.from_edges(ids[near], ids[near + 1], num_vertices=n, directed=bool(seed % 2), **options)
    group = np.r_[0, np.cumsum(~np.isin(np.arange(n - 1), near))]
    smallest = np.full(group.max() + 1, n)
    np.minimum.at(smallest, group, ids)
    first = np.empty(n, np.int64)
    first[ids] = smallest[group]
    return graph, first


@pytest.mark.parametrize("least", [0, 1 << 40])
def test_sets_are_the_same_where_paths_are_halved(
    gpu: Any, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "HALVING_VERTICES", least)
    for seed in range(4):
        graph, first = paths(seed)
        shaped(gpu, seed)
        for options in ({"threads": 1}, {"threads": 3}, {"device": "cuda"}):
            found = vg.run(vg.algorithms.connected_components, graph, **options)
            np.testing.assert_array_equal(found.component, first)


@vg.operator
def link(src, edge, dst):
    """Join the ends of an arc."""
    vg.union(src.component, dst.component)


@vg.operator
def link_twice(v, graph):
    """Join v with its neighbors, in two properties."""
    for u in v.out_neighbors:
        vg.union(v.component, u.component)
        vg.union(v.other, u.other)


@vg.algorithm
def linked(graph):
    """Components from all arcs."""
    component = graph.disjoint_sets()
    graph.edge_apply(link)
    return component


@vg.algorithm
def linked_twice(graph):
    """The same twice."""
    component = graph.disjoint_sets()
    other = graph.disjoint_sets()
    graph.vertex_apply(link_twice)
    return component, other


@pytest.mark.parametrize(
    ("entries", "wide"), [(4, False), (256, False), pytest.param(64, True, marks=pytest.mark.slow)]
)
def test_tables_of_known_sets(gpu: Any, entries: int, wide: bool) -> None:
    for seed in range(4):
        graph, first = paths(seed, id_bits=64 if wide else 32)
        shaped(gpu, seed)
        for algorithm, labels in (
            (vg.algorithms.connected_components, ("sample", "finish")),
            (linked, ("link",)),
            (linked_twice, ("link_twice",)),
        ):
            schedule = vg.Schedule()
            for label in labels:
                schedule = schedule.at(label, unions=entries)
            found = vg.run(algorithm, graph, schedule=schedule, device="cuda")
            np.testing.assert_array_equal(found.component, first)
            if algorithm is linked_twice:
                np.testing.assert_array_equal(found.other, first)

"""The step that Leiden's method adds: communities are divided into parts, whose sums stay true while they merge."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg
from vgraph.algorithms._communities import gather, leads, weighted
from vgraph.algorithms._moves import PARTS
from vgraph.algorithms.leiden import TRIES, isolate, measure, merge, select, sever


@vg.operator
def assign(v):
    """The community that is given."""
    v.home = v.given


@vg.algorithm
def refined(graph, given: vg.vertex_property(vg.int64), tries=TRIES):
    """The parts of communities, with what is kept about them under their names."""
    group = graph.disjoint_sets()
    part = graph.vertex_property(vg.vertex)
    home = graph.vertex_property(vg.int64)
    new = graph.vertex_property(vg.vertex)
    after = graph.vertex_property(vg.vertex)
    chosen = graph.vertex_property(vg.int32)
    parts = graph.vertex_property(vg.int32)
    inside = graph.vertex_property(vg.float64)
    away = graph.vertex_property(vg.float64)
    total = graph.vertex_property(vg.float64)
    mass = graph.vertex_property(vg.float64)
    cut = graph.vertex_property(vg.float64)
    skew = graph.vertex_property(vg.float64)
    if graph.directed:
        slope = graph.vertex_property(vg.float64)
        tilt = graph.vertex_property(vg.float64)
    behind = graph.scratch(vg.int64)
    toward = graph.scratch(vg.float64)
    graph.resolution = 1.0
    graph.whole = 0.0
    graph.within = 0.0
    graph.chance = 0.0
    graph.turn = vg.int32(0)
    groups = graph.vertex_filter(leads)
    graph.vertex_apply(gather, groups)
    graph.vertex_apply(assign)
    graph.vertex_apply(isolate)
    graph.vertex_apply(measure)
    for _ in range(tries * PARTS):
        merging = graph.vertex_filter(select, groups)
        graph.vertex_apply(merge, merging)
        graph.vertex_apply(sever, merging)
        graph.turn += 1
    return part, parts, mass, cut, skew


refined.prepares(weighted)


@pytest.mark.parametrize("how", [{"device": "python"}, {"threads": 1}, {"threads": 3}])
@pytest.mark.parametrize(("seed", "directed"), [(0, False), (1, False), (1, True)])
def test_parts(seed: int, directed: bool, how: dict[str, object]) -> None:
    """Connected parts of communities, with their weight, their arcs to the rest of the community, and their size."""
    rng = np.random.default_rng(seed)
    n, m = 60, 240
    (s, t), weight = rng.integers(0, n, (2, m)), rng.integers(1, 9, m).astype(float)
    given = 7 * rng.integers(0, 5, n)
    graph = vg.Graph.from_edges(s, t, num_vertices=n, directed=directed, weight=weight)
    found = vg.run(refined, graph, given=given, **how)
    part = found.part.astype(int)
    used = np.unique(part)
    assert 5 < used.size < n
    assert (given[part] == given).all()
    strength = np.bincount(s, weight, n) + np.bincount(t, weight, n)
    assert found.mass[used].tolist() == np.bincount(part, strength, n)[used].tolist()
    leaning = np.bincount(s, weight, n) - np.bincount(t, weight, n) if directed else np.zeros(n)
    assert found.skew[used].tolist() == np.bincount(part, leaning, n)[used].tolist()
    assert found.parts[used].tolist() == np.bincount(part, minlength=n)[used].tolist()
    between = (given[s] == given[t]) & (part[s] != part[t])
    cut = np.bincount(part[s], weight * between, n) + np.bincount(part[t], weight * between, n)
    assert found.cut[used].tolist() == cut[used].tolist()
    inside = part[s] == part[t]
    pieces = vg.Graph.from_edges(s[inside], t[inside], num_vertices=n, directed=False)
    component = vg.run(vg.algorithms.connected_components, pieces).component
    assert np.unique(component).size == used.size


def test_what_is_hardly_attached_stays_alone() -> None:
    """0 and 1 would gain by being one part, but 0 has one arc to its community, where by chance it has 1.5."""
    ends = [0, 0, 0, 1, 1, 2, 4], [1, 4, 5, 2, 3, 3, 5]
    graph = vg.Graph.from_edges(*ends, directed=False, weight=np.ones(7))
    found = vg.run(refined, graph, given=np.array([0, 0, 0, 0, 4, 4]))
    assert np.flatnonzero(found.part == found.part[0]).tolist() == [0]
    assert np.unique(found.part[1:4]).size == 1


def test_parts_that_lean_the_same_way() -> None:
    """0 has arcs to 1 and 2, of one weight; by chance there would be fewer to 2, which like 0 has arcs that leave."""
    graph = vg.Graph.from_edges([0, 0, 2, 2, 3, 4], [1, 2, 3, 4, 1, 1], weight=np.ones(6))
    parts = [vg.run(refined, graph, given=np.zeros(5, int), tries=1, seed=k).part for k in range(40)]
    alike, other = (sum(part[0] == part[v] for part in parts) for v in (2, 1))
    assert alike > 2 * other


def test_further_tries_merge_what_met_before() -> None:
    """A circle of four, one community: neighbors that have their turn together do not find each other."""
    graph = vg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], directed=False, weight=np.ones(4))
    counts = [np.unique(vg.run(refined, graph, given=np.zeros(4, int), tries=k).part).size for k in (0, 1, 3)]
    assert counts[0] == 4
    assert counts == sorted(counts, reverse=True)
    assert counts[2] < 4

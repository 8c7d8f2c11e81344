"""Graphs placed on members of a set: every vertex and arc has one owner, and ghosts know theirs."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg
from vgraph.graph.placement import placed, ranges


def random_graph(directed: bool, seed: int = 0) -> vg.Graph:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, 40, (2, 150))
    height = {"height": rng.random(40)}
    return vg.Graph.from_edges(
        *ends, num_vertices=40, directed=directed, w=np.arange(150), vertex_properties=height
    )


PLACEMENTS = {
    "random": np.random.default_rng(1).integers(0, 3, 40),
    "an empty member": np.random.default_rng(1).integers(0, 2, 40) * 2,
    "one vertex": np.where(np.arange(40) == 7, 1, 2 * (np.arange(40) % 2)),
    "all on one": np.ones(40, np.int64),
}


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("owner", PLACEMENTS.values(), ids=PLACEMENTS)
def test_parts_make_up_the_graph(directed, owner):
    graph = random_graph(directed)
    parts = placed(graph, lambda: (owner, None), 3, owner.tobytes(), both=True)
    found = []
    for m, part in enumerate(parts):
        numbers, graph_of = part.numbers, part.graph
        assert np.array_equal(numbers[part.owned], np.flatnonzero(owner == m))
        assert (owner[numbers[part.ghosts_at]] != m).all()
        assert graph_of.num_vertices == len(numbers) == len(set(numbers.tolist()))
        assert np.array_equal(
            graph_of.vertex_properties["height"], graph.vertex_properties["height"][numbers]
        )
        for side, weights, whole in (
            (graph_of.out, graph_of.edge_properties["w"], graph.out),
            (graph_of.in_, graph_of.in_property("w"), graph.in_),
        ):
            assert (np.diff(side.row_offsets)[len(part.owned) :] == 0).all()
            for v in range(len(part.owned)):
                row = slice(*side.row_offsets[v : v + 2])
                there = slice(*whole.row_offsets[numbers[v] : numbers[v] + 2])
                assert np.array_equal(numbers[side.column_indices[row]], whole.column_indices[there])
                if whole is graph.out:
                    assert np.array_equal(weights[row], graph.edge_properties["w"][there])
                else:
                    assert np.array_equal(weights[row], graph.in_property("w")[there])
        found.append(numbers[part.owned])
        assert part.nbytes > 0
    assert np.array_equal(np.sort(np.concatenate(found)), np.arange(40))
    assert sum(part.arcs for part in parts) == graph.num_arcs


@pytest.mark.parametrize("owner", PLACEMENTS.values(), ids=PLACEMENTS)
def test_owners_and_ghosts_are_listed_alike(owner):
    graph = random_graph(directed=True)
    parts = placed(graph, lambda: (owner, None), 3, owner.tobytes(), both=False)
    for m, part in enumerate(parts):
        for p, peer in enumerate(parts):
            shared = part.at[int(part.shared[p]) : int(part.shared[p + 1])]
            ghosts = peer.numbers[peer.ghosts_at][int(peer.ghosts[m]) : int(peer.ghosts[m + 1])]
            assert np.array_equal(part.numbers[shared], ghosts)
            assert np.isin(shared, part.owned).all()


def test_ranges_have_about_equally_many_arcs():
    graph = random_graph(directed=True)
    work = graph.out_degree.astype(int) + 1
    for shares in ((1, 1), (3, 1), (1, 1, 1)):
        owner = ranges(graph, shares)
        assert (np.diff(owner) >= 0).all()
        for m, share in enumerate(shares):
            assert abs(work[owner == m].sum() - work.sum() * share / sum(shares)) <= work.max()


def test_parts_are_kept_with_the_graph():
    graph = random_graph(directed=True)
    first = placed(graph, lambda: (ranges(graph, (1, 1)), None), 2, "key", both=False)
    again = placed(graph, lambda: pytest.fail("made again"), 2, "key", both=False)
    assert all(a is b for a, b in zip(first, again, strict=True))


@pytest.mark.parametrize("n", [0, 1])
def test_small_graphs_are_placed(n):
    graph = vg.Graph.from_edges([], [], num_vertices=n)
    assert [len(p.owned) for p in placed(graph, lambda: (ranges(graph, (1, 1)), None), 2, "key", both=True)][
        0:2
    ] in (
        [n, 0],
        [0, n],
    )

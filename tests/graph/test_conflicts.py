"""Offline plans of conflicts: cells of a phase share no vertex, whatever the graph; matchings are maximal."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler.backends.first_fit import first_fit
from vgraph.graph import machine
from vgraph.graph.conflicts import KINDS, Plan, diagonals, matchings, plan

PARAMETERS = {
    "blocked_diagonals": [(), (1, 1), (3, 2), (2, 7), (100, 100)],
    "dealt_blocks": [(2,), (6,), (256,)],
    "even_blocks": [(2,), (6,), (256,)],
    "agm_n": [(1,), (4,)],
    "sgm": [(1,), (4,), (99,)],
}
PLANS = [kind for kind in KINDS if kind != "shuffled"]  # which is for locks
KEYS = [".".join([kind, *map(str, given)]) for kind in PLANS for given in PARAMETERS.get(kind, [()])]


def graphs() -> dict[str, vg.Graph]:
    rng = np.random.default_rng(5)
    users, items = (12 * rng.random(150) ** 3).astype(int), (30 * rng.random(150) ** 2).astype(int)
    a, b = rng.integers(0, 25, (2, 120))
    return {
        "empty": vg.Graph.from_edges([], []),
        "no arcs": vg.Graph.from_edges([], [], num_vertices=5),
        "one loop": vg.Graph.from_edges([1], [1]),
        "path": vg.Graph.from_edges(range(40), range(1, 41)),
        "hub": vg.Graph.from_edges([0] * 200, range(1, 201)),
        "ratings": vg.Graph.from_edges(users, 12 + items),
        "items first": vg.Graph.from_edges(30 + users, items, multi_edges=False),
        "scattered": vg.Graph.from_edges(3 * users, 100 + 2 * items),
        "directed": vg.Graph.from_edges(a, b),
        "undirected": vg.Graph.from_edges(a, b, directed=False),
        "parallel": vg.Graph.from_edges([0, 0, 0, 1, 1, 2], [1, 1, 1, 0, 2, 2]),
    }


def check(found: Plan, graph: vg.Graph, *, steps: bool = True) -> None:
    """What every plan promises."""
    assert np.array_equal(np.sort(found.order), np.arange(graph.num_arcs))
    cells = np.arange(graph.num_arcs + 1) if found.cells is None else found.cells
    phases = found.phases
    for offsets, size in ((cells, graph.num_arcs), (phases, cells.size - 1)):
        assert offsets.dtype == np.int64
        assert (offsets[0], offsets[-1]) == (0, size)
        assert (np.diff(offsets) > 0).all()
    s, t = ends(graph)
    for first, last in pairwise(phases):
        owner: dict[int, int] = {}
        for cell in range(first, last):
            for arc in found.order[cells[cell] : cells[cell + 1]]:
                for v in (s[arc], t[arc]):
                    assert owner.setdefault(v, cell) == cell, f"two cells of a phase have vertex {v}"
    assert (found.steps is not None) == (found.cells is not None and steps)
    if found.steps is not None and found.firsts is not None:
        assert np.array_equal(found.steps[found.firsts], cells)
        for first, last in pairwise(found.steps):
            where = [v for arc in found.order[first:last] for v in {s[arc], t[arc]}]
            assert len(where) == len(set(where)) > 0, "two arcs of a step share a vertex"
        for first, last in pairwise(found.firsts):
            assert (np.diff(found.steps[first : last + 1], 2) <= 0).all(), "steps come by falling size"
    touched = [sum(v in pair for pair in zip(s, t, strict=True)) for v in range(graph.num_vertices)]
    assert found.d_max == max(touched, default=0)


def ends(graph: vg.Graph) -> tuple[list[int], list[int]]:
    sources = np.repeat(np.arange(graph.num_vertices), np.diff(graph.out.row_offsets.astype(np.int64)))
    return sources.tolist(), graph.out.column_indices.tolist()


@pytest.mark.parametrize("key", KEYS)
def test_cells_of_a_phase_share_no_vertex(key: str) -> None:
    for graph in graphs().values():
        check(plan(graph, key, first_fit), graph, steps=not key.startswith(("sequential", "even")))


def test_blocks_by_degree(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many phases as parts, with blocks of about as many arcs; single edges where no vertex has many."""
    monkeypatch.setattr(diagonals, "ARCS", 16)
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 60, (2, 1600))
    for graph in (vg.Graph.from_edges(a, 60 + b), vg.Graph.from_edges(a, b)):
        found = plan(graph, "blocked_diagonals", first_fit)
        check(found, graph)
        assert found.cells is not None
        assert found.num_phases == 10
        assert np.diff(found.cells).max() < 3 * np.diff(found.cells).mean()
    monkeypatch.setattr(diagonals, "ARCS", 1)
    for graph in graphs().values():
        check(plan(graph, "blocked_diagonals", first_fit), graph)
    assert plan(graphs()["path"], "blocked_diagonals", first_fit).cells is None


def test_even_blocks() -> None:
    """As many phases as parts, with blocks of about as many arcs, whose sources come window by window."""
    rng = np.random.default_rng(6)
    a, b = (900 * rng.random((2, 20000)) ** 2).astype(int)
    for graph in (vg.Graph.from_edges(a, 900 + b), vg.Graph.from_edges(a, b)):
        found = plan(graph, "even_blocks.10", first_fit)
        assert found.cells is not None
        assert found.num_phases == 10
        assert np.diff(found.cells).max() < 3 * np.diff(found.cells).mean()
        windows = (np.array(ends(graph)[0])[found.order] // diagonals.WINDOW).astype(int)
        inside = np.setdiff1d(np.arange(1, windows.size), found.cells)
        assert (np.diff(windows)[inside - 1] >= 0).all()


def test_first_fit_is_what_it_says() -> None:
    rng = np.random.default_rng(2)
    for size in [0, 1, *rng.integers(2, 700, 60)]:
        n = int(rng.integers(1, 60))
        first, second = (
            (n * rng.random(size) ** rng.integers(1, 4)).astype(np.uint32),
            (n * rng.random(size)).astype(np.uint32),
        )
        had: dict[int, set[int]] = {}
        wanted = []
        for u, v in zip(first.tolist(), second.tolist(), strict=True):
            taken = had.setdefault(u, set()) | had.setdefault(v, set())
            wanted.append(min(set(range(len(taken) + 1)) - taken))
            had[u].add(wanted[-1])
            had[v].add(wanted[-1])
        assert first_fit(first, second).tolist() == wanted


@pytest.mark.parametrize("workers", [1, 3])
def test_each_group_of_edges_begins_anew(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "threads", lambda: workers)
    monkeypatch.setattr(machine, "LEAST", 100)
    rng = np.random.default_rng(3)
    groups = np.r_[0, 0, np.sort(rng.integers(0, 900, 7)), 900]
    first, second = ((40 * rng.random(900) ** k).astype(np.uint32) for k in (1, 3))
    wanted = [first_fit(first[a:b], second[a:b]) for a, b in pairwise(groups)]
    assert first_fit(first, second, groups).tolist() == np.concatenate(wanted).tolist()


def test_hubs_next_to_each_other_and_to_many_small_vertices() -> None:
    """Colors of more than one word, beyond the bits of the smaller end."""
    hubs, leaves = np.meshgrid(np.arange(7), 7 + np.arange(300))
    a, b = np.triu_indices(7, 1)
    graph = vg.Graph.from_edges(np.r_[hubs.ravel(), a], np.r_[leaves.ravel(), b])
    for key in ("agm_e", "colored", "sgm.2"):
        check(plan(graph, key, first_fit), graph)


@pytest.mark.parametrize("key", ["agm_e", "sgm.4"])
def test_matchings_are_maximal(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a color, of the edges that have no lesser one; then they come in an order by lot."""
    monkeypatch.setattr(matchings, "shuffled", lambda key: key)
    for graph in graphs().values():
        found = plan(graph, key, first_fit)
        s, t = np.array(ends(graph), int)
        place = (
            np.argsort(np.argsort(-np.bincount(s, minlength=graph.num_vertices), kind="stable"))
            if s.size
            else s
        )
        block = place[s] // 4 if key != "agm_e" else np.zeros(s.size)
        parts = [found.order[a:b] for a, b in pairwise(found.phases)]
        for i, part in enumerate(parts):
            later = np.concatenate([part[:0], *parts[i + 1 :]])
            later = later[block[later] == block[part[0]]]
            used = np.r_[s[part], t[part]]
            assert (np.isin(s[later], used) | np.isin(t[later], used)).all()
        assert key != "agm_e" or found.num_phases <= max(2 * found.d_max - 1, 0)


IN_NO_ORDER = [
    "agm_e",
    "agm_n.16",
    "sgm.16",
    "colored",
    "diagonal",
    "blocked_diagonals",
    "blocked_diagonals.8.8",
]


@pytest.mark.parametrize("key", [*IN_NO_ORDER, "dealt_blocks.8", "shuffled", "shuffled.16"])
def test_a_vertex_sees_its_edges_in_no_order_of_ids(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else gradient descent ends at larger errors: what comes first is always the same."""
    monkeypatch.setattr(diagonals, "ARCS", 16)
    users, items = np.nonzero(np.random.default_rng(3).random((60, 90)) < 0.5)
    graph = vg.Graph.from_edges(users, 60 + items)
    place = np.argsort(plan(graph, key, first_fit).order)
    s, t = map(np.array, ends(graph))
    seen = [np.corrcoef(place[s == u], t[s == u])[0, 1] for u in range(60)]
    assert abs(np.mean(seen)) < 0.25


def test_windows_of_arcs_by_lot() -> None:
    for size in (0, 1, 3, 40, 97, 160):
        for many in (5, 10):
            graph = vg.Graph.from_edges(np.arange(size) // many, 100 + np.arange(size))
            found = plan(graph, "shuffled.2", first_fit).order
            assert np.array_equal(np.sort(found), np.arange(size))
            assert (abs(found - np.arange(size)) < 20).all()
            assert (found != np.arange(size)).any() == (many == 10 and size > 10)


def test_numbers_of_phases() -> None:
    """A full matrix of 6 sources and 4 targets; there, first fit gives the exclusive or of row and column."""
    users, items = (x.ravel() for x in np.meshgrid(np.arange(6), np.arange(4)))
    graph = vg.Graph.from_edges(users, 6 + items)
    count = {
        key: plan(graph, key, first_fit).num_phases for key in ("diagonal", "blocked_diagonals.2.2", "agm_e")
    }
    assert count == {"diagonal": 9, "blocked_diagonals.2.2": 4, "agm_e": 8}
    blocks = plan(graph, "blocked_diagonals.2.2", first_fit)
    assert blocks.cells is not None
    assert np.diff(blocks.cells).tolist() == [4] * 6
    assert plan(graph, "sequential", first_fit).num_phases == 1
    assert plan(graph, "diagonal", first_fit).cells is None


def test_a_plan_is_kept_with_the_arcs() -> None:
    graph = graphs()["ratings"]
    found = plan(graph, "sgm.4", first_fit)
    assert plan(graph.with_vertex_property("x", np.zeros(graph.num_vertices)), "sgm.4", first_fit) is found
    assert plan(graph, "sgm.5", first_fit) is not found
    assert found.seconds > 0
    assert not found.order.flags.writeable

"""`rows=vg.DELTA`: neighbors from 16-bit differences, the same ones in the same order as from CSR."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler.facts import Facts
from vgraph.graph import layouts
from vgraph.graph.layouts import deltas
from vgraph.runtime import policy

A = vg.algorithms


def graph_of(seed: int, *, directed: bool = True, n: int = 90, m: int = 260) -> vg.Graph:
    """Near and far neighbors, loops, parallel arcs, and vertices without arcs."""
    rng = np.random.default_rng(seed)
    src = rng.integers(0, n, m)
    dst = np.where(
        rng.random(m) < 0.7, np.clip(src + rng.integers(-3, 4, m), 0, n - 1), rng.integers(0, n, m)
    )
    weight = rng.integers(1, 9, m).astype(np.int32)
    return vg.Graph.from_edges(src, dst, num_vertices=n + 5, directed=directed, weight=weight)


# --- the words --------------------------------------------------------------------------------------------------


def read(word: int, v: int, row: list[int]) -> list[int]:
    """What a kernel reads of a row."""
    slots = [(word >> 16 * k & 0xFFFF) ^ 0x8000 for k in range(4)]
    steps = [s - 0x8000 for s in slots]
    rest = steps[3] == deltas.REST
    near = [v + step for step in steps[: 3 if rest else 4] if step]
    return near + row[len(near) :] if rest else near


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("reach", [2, 3, 40])
def test_a_word_is_its_row(monkeypatch, side, reach):
    """The reach is so small that rows are whole, cut in the middle, and empty."""
    monkeypatch.setattr(deltas, "REACH", reach)
    graph = graph_of(reach)
    words = layouts.on_host(graph, deltas.DELTAS[side].key()).arrays["words"].tolist()
    rows = graph.in_ if side == "in" else graph.out
    lists = [part.tolist() for part in np.split(rows.column_indices.astype(int), rows.row_offsets[1:-1])]
    assert [read(word, v, row) for v, (word, row) in enumerate(zip(words, lists, strict=True))] == lists
    kept = sum((word >> 48) != 0x8000 for word in words)
    assert 0 < kept < len(words)


def test_the_farthest_differences():
    far = 1 << 15
    graph = vg.Graph.from_edges(
        [40_000] * 4, [40_000 - far, 40_000 - far + 1, 40_000 + far - 1, 40_000 + far]
    )
    for k, expected in ((0, 0), (1, 2)):
        part = vg.Graph.from_edges([40_000] * (4 - k), graph.out.column_indices[k:])
        word = int(layouts.on_host(part, "out_deltas").arrays["words"][40_000])
        assert sum((word >> 16 * s & 0xFFFF) != 0 for s in range(3)) == expected
        assert word >> 48 == 0x8000


def test_graphs_without_arcs_and_without_vertices():
    for graph, n in ((vg.Graph.from_edges([], []), 0), (vg.Graph.from_edges([], [], num_vertices=3), 3)):
        assert layouts.on_host(graph, "in_deltas").arrays["words"].tolist() == [0] * n
        assert deltas.near_rows(graph) == (1.0 if n else 0.0)


# --- kernels ----------------------------------------------------------------------------------------------------


@vg.operator
def several(v):
    """Loops that are left early, passed over in part, nested, and that read arcs' values and degrees."""
    v.total = 0
    v.first = -1
    for e in v.out_edges:
        if e.dst.id % 3 == 1:
            continue
        v.total += e.weight
        for u in e.dst.out_neighbors:
            v.total += u.out_degree
    for u in v.in_neighbors:
        if u.id > v.id:
            v.first = vg.int32(u.id)
            break
    v.total += 100 * v.in_degree


@vg.algorithm
def walk(graph):
    total = graph.vertex_property(vg.int32)
    first = graph.vertex_property(vg.int32)
    graph.vertex_apply(several)
    return total, first


CASES = [
    (walk, "several", {}, {}, ("total", "first"), True),
    (A.pagerank, "gather", {}, {}, ("rank",), False),
    (A.bellman_ford, "relax", {"direction": vg.PUSH, "drive": vg.DATA}, {"source": 3}, ("dist",), True),
]


@pytest.mark.parametrize("reach", [2, 40])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].name)
def test_kernels_give_what_cpython_gives(emulated, monkeypatch, case, reach):
    monkeypatch.setattr(deltas, "REACH", reach)
    algorithm, label, options, arguments, results, directed = case
    emulated.multiprocessors, emulated.block, emulated.seed = 2, 64, 5
    graph = graph_of(7, directed=directed)
    schedule = vg.Schedule().at(label, rows=vg.DELTA, balance=vg.VERTEX, **options)
    found = vg.run(algorithm, graph, schedule=schedule, device="cuda", **arguments)
    want = vg.run(algorithm, graph, device="python", **arguments)
    assert any(x.nbytes == 8 * graph.num_vertices for x in found.stats.layouts)
    for name in results:
        got = np.asarray(getattr(found, name))
        np.testing.assert_allclose(got, np.asarray(getattr(want, name)), rtol=1e-12, err_msg=name)


# --- what is chosen ------------------------------------------------------------------------------------------------


def test_what_is_chosen(monkeypatch):
    monkeypatch.setattr(policy, "LARGE", 100)
    n = 400
    path = vg.Graph.from_edges(np.arange(n - 1), np.arange(1, n), directed=False)
    star = vg.Graph.from_edges(np.zeros(n - 1, int), np.arange(1, n), directed=False)
    far = vg.Graph.from_edges(np.arange(n), (np.arange(n) + 5) % n, directed=False)
    assert not policy.facts_of(path, "cuda").near  # one run does not pay for it
    for graph in (path, star, far):
        policy.uses(graph).prepared = True
    assert policy.facts_of(path, "cuda").near
    assert not policy.facts_of(path, "cpu").near
    assert policy.facts_of(star, "cuda").near  # one row of 400 is long
    monkeypatch.setattr(deltas, "REACH", 2)
    assert not policy.facts_of(far, "cuda").near
    assert Facts().near is False
    chosen = vg.explain(A.pagerank, path, device="cuda").schedule.splitlines()
    assert [line.partition(":")[0] for line in chosen if "rows=delta" in line] == ["gather"]
    assert (
        "rows=delta" not in vg.explain(A.triangle_count, path, device="cuda").schedule
    )  # two lists are merged
    balanced = vg.Schedule().at("gather", balance=vg.WARP)
    assert "rows=delta" not in vg.explain(A.pagerank, path, balanced, device="cuda").schedule

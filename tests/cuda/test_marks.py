"""Lists that many others are compared with, marked in shared memory by the lanes that walk them together."""

from __future__ import annotations

import re
from typing import Any

import emulator
import numpy as np
import pytest
from emulated_device import INCLUDE, EmulatedDevice

import vgraph as vg
from vgraph.compiler.facts import Facts
from vgraph.runtime import policy
from vgraph.runtime.result import Result

BALANCES = (vg.WARP, vg.BLOCK, vg.TWC, vg.SPLIT(4), vg.EDGE)


@vg.operator
def counted(u, graph):
    """Counts at the common neighbors, at both ends, and of all; the list of u is marked."""
    for v in u.in_neighbors:
        shared = 0
        for w in u.out_neighbors & v.out_neighbors:
            shared += 1
            w.met += 1
            w.twice += 2
        v.seen += shared
        u.own += shared
        graph.total += shared


@vg.operator
def bounded(u):
    """The walk ends at a bound; what is added is no constant, and the other list is that of in-neighbors."""
    for v in u.out_neighbors:
        found = 0
        for w in v.in_neighbors & u.out_neighbors:
            if w >= v:
                break
            found += w.weight
            w.least = min(w.least, u.id)
        v.heavy += found


@vg.operator
def nested(u):
    """Of two comparisons in a loop one is with the list of u; another loop goes on after some of them."""
    for v in u.out_neighbors:
        best = -1
        for w in u.out_neighbors & v.out_neighbors:
            if w == u:
                continue
            best = max(best, w.id)
        here = 0
        for _ in v.in_neighbors & v.out_neighbors:
            here += 1
        if best >= 0:
            v.last = max(v.last, best)
            u.around += here


@vg.operator
def left_early(u):
    """The loop over u's own arcs ends at a bound: so u cannot be cut, but a group goes through its arcs as one."""
    for v in u.out_neighbors:
        if v > u:
            break
        found = 0
        for w in v.out_neighbors & u.out_neighbors:
            found += w.weight
        v.early += found
        u.late += found


@vg.operator
def of_two(v):
    """The lists of two other vertices, which lanes compare without marks; v's own sum is no constant."""
    if v.mate >= 0:
        a = vg.vertex(v.mate)
        b = vg.vertex(v.weight)
        both = 0
        for w in a.out_neighbors & b.out_neighbors:
            v.pair += w.weight
            both += 1
        for w in a.out_neighbors & b.in_neighbors:
            if w > v:
                break
            w.turned += 1
        v.shared = both


@vg.algorithm
def compared(graph, weight: vg.vertex_property(vg.int64), mate: vg.vertex_property(vg.int64)):
    """All of them."""
    met = graph.vertex_property(vg.int64)
    twice = graph.vertex_property(vg.int32)
    seen = graph.vertex_property(vg.int64)
    own = graph.vertex_property(vg.int64)
    heavy = graph.vertex_property(vg.int64)
    least = graph.vertex_property(vg.int64, fill=vg.inf)
    last = graph.vertex_property(vg.int64, fill=-1)
    around = graph.vertex_property(vg.int64)
    early = graph.vertex_property(vg.int64)
    late = graph.vertex_property(vg.int64)
    pair = graph.vertex_property(vg.int64)
    turned = graph.vertex_property(vg.int64)
    shared = graph.vertex_property(vg.int64)
    graph.total = 0
    graph.vertex_apply(of_two)
    graph.vertex_apply(left_early)
    graph.vertex_apply(counted)
    graph.vertex_apply(bounded)
    graph.vertex_apply(nested)
    return graph.total, met, twice, seen, own, heavy, least, last, around, early, late, pair, turned, shared


def graph_of(n: int, directed: bool, **options: Any) -> vg.Graph:
    """Loops, parallel arcs, hubs of low and of high numbers, and vertices without arcs."""
    rng = np.random.default_rng(n)
    s, t = rng.integers(0, n, (2, 4 * n)) * rng.integers(0, 2, (2, 4 * n)) * 9 // 10
    ends = np.r_[s, s[:n], np.full(n, n - 3)], np.r_[t, t[:n], rng.integers(0, n, n)]
    return vg.Graph.from_edges(*ends, num_vertices=n, directed=directed, **options)


def numbers(n: int) -> dict[str, Any]:
    """Arguments of `compared`; `mate` is a vertex, or none."""
    return {
        "weight": np.arange(n) * 7 % 13,
        "mate": np.where(np.arange(n) % 4 == 1, -1, np.arange(n) * 5 % 7),
    }


def same(found: Result, wanted: Result) -> None:
    for name in wanted.names:
        a, b = np.asarray(getattr(wanted, name)), np.asarray(getattr(found, name))
        np.testing.assert_array_equal(b, a, err_msg=name)


def balanced(balance: vg.Balance | None) -> vg.Schedule:
    """For operators that may not be cut, the lanes share whole vertices."""
    schedule = vg.Schedule()
    if balance is not None:
        for label in ("counted", "bounded", "nested"):
            schedule = schedule.at(label, balance=balance)
        whole = balance if balance.kind in ("warp", "block", "twc") else vg.WARP
        schedule = schedule.at("left_early", balance=whole).at("of_two", balance=whole)
    return schedule


@pytest.mark.covering
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("balance", BALANCES, ids=lambda b: b.kind)
def test_the_answer_is_that_of_the_cpu(balance: vg.Balance, directed: bool, gpu: Any) -> None:
    """With room for a few bits and counters, so that most vertices have none of their own, and for all of them."""
    graph = graph_of(120, directed)
    wanted = vg.run(compared, graph, **numbers(graph.num_vertices))
    for shared in (32, 192, 4096):
        if isinstance(gpu, EmulatedDevice):
            gpu.shared, gpu.seed = shared, shared + directed
        same(vg.run(compared, graph, device="cuda", schedule=balanced(balance), **numbers(120)), wanted)


@pytest.mark.covering
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("balance", [vg.BLOCK, vg.SPLIT(4)], ids=lambda b: b.kind)
def test_heads_of_lists(balance: vg.Balance, directed: bool, gpu: Any) -> None:
    """Ids of 16 bits, of which all, some and none have a bit of their own; behind them comes the rest of a list."""
    graph = graph_of(120, directed)
    wanted = vg.run(compared, graph, **numbers(graph.num_vertices))
    schedule = balanced(balance)
    for label in ("counted", "bounded", "nested", "left_early"):
        schedule = schedule.at(label, hubs=64)
    for shared in (64, 192):
        if isinstance(gpu, EmulatedDevice):
            gpu.shared, gpu.seed = shared, shared + directed
        found = vg.run(compared, graph, device="cuda", schedule=schedule, **numbers(120))
        same(found, wanted)
        assert any("_heads." in layout.name for layout in found.stats.layouts)


def test_wide_numbers(gpu: Any) -> None:
    graph = graph_of(70, True, id_bits=64)
    wanted = vg.run(compared, graph, **numbers(graph.num_vertices))
    same(vg.run(compared, graph, device="cuda", schedule=balanced(vg.SPLIT(4)), **numbers(70)), wanted)


def test_which_loops_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those whose visits are shared by lanes; others merge."""
    monkeypatch.setattr(policy, "facts_of", lambda *_: Facts(directed=True))
    graph = graph_of(70, True)

    def text(balance: vg.Balance | None) -> tuple[str, str]:
        told = vg.explain(compared, graph, device="cuda", schedule=balanced(balance), **numbers(70))
        ir, _, code = str(told).partition("== CUDA C++ ==")
        return ir.partition("== IR after mark-common ==")[2], code

    ir, code = text(vg.SPLIT(4))
    assert len(re.findall(r"in \w+\(u[.\d]*\) marks out \{", ir.partition("== IR after")[0])) == 4
    assert code.count("Marks<decltype") == 4
    assert "open_shelf(2, " in code  # for `met` and for `twice`
    assert len(re.findall(r"\n *count\(", code)) == 2
    ir, code = text(None)
    assert " marks " not in ir
    assert "Marks<" not in code


def test_short_lists_are_merged_unless_lanes_could_share_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(policy, "facts_of", lambda *_: Facts(directed=True, large=True, short_lists=True))
    told = vg.explain(
        compared, graph_of(70, True), device="cuda", schedule=balanced(vg.SPLIT(4)), **numbers(70)
    )
    assert str(told).partition("== CUDA C++ ==")[2].count("Marks<decltype") == 1  # that of `left_early`


@pytest.mark.parametrize(
    ("facts", "whole"),
    [
        (Facts(directed=True, large=True), "twc"),
        (Facts(directed=True, large=True, even=True), "warp"),
        (Facts(directed=True, long_lists=True), "twc"),
    ],
    ids=["large", "even", "small"],
)
def test_chosen_where_lists_are_long(facts: Facts, whole: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small pieces, for each arc is a walk; what cannot be cut is shared whole, by a warp if degrees are even."""
    monkeypatch.setattr(policy, "facts_of", lambda *_: facts)
    told = vg.explain(compared, graph_of(70, True), device="cuda", **numbers(70))
    rows = dict(row.split(": ", 1) for row in told.schedule.splitlines())
    for label in ("counted", "bounded", "nested"):
        assert "balance=split(128)" in rows[label]
    assert f"balance={whole}" in rows["left_early"]
    assert "balance=warp" in rows["of_two"] or not facts.large
    if facts.large:
        assert "balance=warp: the lanes of a warp walk one of two lists and look in the other" in told.reasons
    assert told.reasons.count("lists of others are compared with its own, which they mark") == 4
    assert told.cuda.count("Marks<decltype") == 4


def test_heads_are_chosen_where_low_numbers_are_hubs(monkeypatch: pytest.MonkeyPatch) -> None:
    """And much is run: the facts say both."""
    monkeypatch.setattr(policy, "facts_of", lambda *_: Facts(directed=True, large=True, bitmaps=True))
    told = vg.explain(compared, graph_of(70, True), device="cuda", **numbers(70))
    rows = dict(row.split(": ", 1) for row in told.schedule.splitlines())
    assert {label for label, row in rows.items() if "hubs=65536" in row} == set(rows) - {"of_two"}
    assert told.cuda.count("HeadArcs<") == 4
    low, high = (1 << 16) - 1 - np.arange(1000), (1 << 20) + np.arange(1000)
    n = (1 << 20) + 1000
    assert policy.hubs_first(vg.Graph.from_edges(high, low, num_vertices=n))
    assert not policy.hubs_first(vg.Graph.from_edges(low, high, num_vertices=n))


@vg.operator
def read_beside(v):
    for w in vg.vertex(v.mate).out_neighbors & vg.vertex(0).out_neighbors:
        v.sums += w.sums * 0 + 1


@vg.operator
def many(v):
    for w in vg.vertex(v.mate).out_neighbors & vg.vertex(0).out_neighbors:
        v.rows += w.row


@vg.algorithm
def summed(graph, mate: vg.vertex_property(vg.int64), row: vg.vertex_property(vg.vector(vg.float64, 100))):
    sums = graph.vertex_property(vg.int64)
    rows = graph.vertex_property(vg.vector(vg.float64, 100))
    graph.vertex_apply(read_beside)
    graph.vertex_apply(many)
    return sums, rows


@pytest.mark.parametrize(
    ("label", "reason"),
    [("read_beside", "it walks no arcs of its vertex"), ("many", "`rows`, too long for registers")],
)
def test_what_lanes_cannot_share(label: str, reason: str) -> None:
    """What one lane would write and others read, and what they cannot add up."""
    schedule = vg.Schedule().at(label, balance=vg.WARP)
    arguments = {"mate": np.zeros(70, np.int64), "row": np.zeros((70, 100))}
    with pytest.raises(vg.ScheduleError, match=reason):
        vg.explain(summed, graph_of(70, True), device="cuda", schedule=schedule, **arguments)


COUNT = """
#include "vgraph.cuh"
using namespace vg;
struct Args { i64* wide; u32* narrow; };
extern "C" __global__ void __launch_bounds__(BLOCK) vg_main(const __grid_constant__ Args a) {
  Shelf shelf = open_shelf(2, ~0ull);
  for (u32 k = 0; k < 4096; ++k) {
    count(shelf, 0, a.wide, threadIdx.x % 2, 65535u);
    count(shelf, 1, a.narrow, threadIdx.x % 2, 65535u);
    count(shelf, 0, a.wide, 500u, 3u);
  }
  empty_counts(shelf, 0, a.wide);
  empty_counts(shelf, 1, a.narrow);
}
"""


def test_counters_that_come_round() -> None:
    """A counter of 32 bits hands on what a place of 64 bits has room for; one of 32 bits comes round like it."""
    if emulator.unavailable() is not None:
        pytest.skip(emulator.unavailable())
    wide, narrow = np.zeros(501, np.int64), np.zeros(501, np.uint32)
    compiled = emulator.compile_text(COUNT, [INCLUDE], 64)
    words = np.array([wide.ctypes.data, narrow.ctypes.data], np.uint64)
    compiled.launch(words, 2, seed=5, shared=256)
    total = 2 * 32 * 4096 * 65535  # more than 32 bits in each of the two blocks
    assert wide[:2].tolist() == [total, total]
    assert narrow[:2].tolist() == [total % (1 << 32)] * 2
    assert wide[500] == 2 * 64 * 4096 * 3

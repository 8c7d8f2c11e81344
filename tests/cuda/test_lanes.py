"""Loops over arcs that the lanes of a group share: which are found fit for it, and that they give the right answer."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulated_device import EmulatedDevice

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.analysis.lanes import carried, shared_loops
from vgraph.compiler.facts import Facts
from vgraph.compiler.types import BOOL, I64, VID
from vgraph.runtime import policy

GOLDEN = Path(__file__).parent / "golden"
GROUPS = (vg.WARP, vg.BLOCK, vg.TWC)

# --- operators that lanes share ----------------------------------------------------------------------------------


@vg.operator
def scaled(v, graph):
    total = 0.0
    for u in v.out_neighbors:
        total += 1 / (1 + u.out_degree)
    v.x = 0.15 + 0.85 * total
    graph.sum += total * total


@vg.operator
def around(v, graph):
    smallest = v.y
    largest = v.y
    for u in v.out_neighbors:
        smallest = min(smallest, u.y)
        largest = max(u.y, largest)
        v.n += 1
    for u in v.in_neighbors:
        smallest = min(smallest, u.y)
        v.n += 2
    v.low = smallest
    if largest > smallest:
        graph.count += largest - smallest


@vg.operator
def found(v, graph):
    hit = False
    for u in v.out_neighbors:
        if u.y % 5 == graph.wanted:
            hit = True
            break
    v.low = 1 if hit else 2
    return hit


@vg.operator
def flags(v):
    large = False
    clean = True
    some = False
    for u in v.in_neighbors:
        if u.y > 40:
            large = True
            clean = False
            break
    for u in v.out_neighbors:
        if u.y < 3:
            some = True
        if u.y < 1:
            some = True
            break
    if large or some:
        v.n += 1
    if clean:
        v.low = 7


@vg.operator
def below(v):
    v.n = 3
    for u in v.out_neighbors:
        if u.y < v.y:
            v.n = v.n + 1
    v.y = v.n


@vg.operator
def sides(v):
    if v.out_degree > 2:
        for u in v.out_neighbors:
            v.low += u.y
    else:
        v.low = -1
    mark = v.low
    if mark > 4:
        for u in v.in_neighbors:
            u.n += mark


@vg.operator
def joined(v):
    for u in v.out_neighbors:
        vg.union(v.set, u.set)
    for u in v.in_neighbors:
        if u.y > v.y:
            v.n = max(v.n, u.y)


@vg.operator
def best_two(v):
    """A word of 128 bits, and one of 64."""
    most = vg.int64(-1)
    who = vg.none
    least = vg.int32(40)
    whom = v
    for u in v.out_neighbors:
        if u.y != 7:
            most, who = max((most, who), (u.y, u))
    for u in v.in_neighbors:
        least, whom = min((least, whom), (vg.int32(u.y), u))
    v.best = who
    v.other = whom
    v.n += most + least


@vg.algorithm
def all_of_them(graph, wanted):
    """Everything above, on all vertices and on a frontier."""
    x = graph.vertex_property(vg.float64)
    y = graph.vertex_property(vg.int64)
    n = graph.vertex_property(vg.int64)
    low = graph.vertex_property(vg.int64)
    set = graph.disjoint_sets()
    best = graph.vertex_property(vg.vertex)
    other = graph.vertex_property(vg.vertex)
    graph.sum = 0.0
    graph.count = 0
    graph.wanted = wanted
    graph.vertex_apply(number)
    graph.vertex_apply(scaled)
    graph.vertex_apply(around)
    some = graph.vertex_filter(found)
    graph.vertex_apply(flags, some)
    some = graph.vertex_filter(found, some, label="again")
    graph.vertex_apply(below, some)
    graph.vertex_apply(sides)
    graph.vertex_apply(joined)
    graph.vertex_apply(best_two)
    left = len(some)
    return x, y, n, low, set, best, other, graph.sum, graph.count, left


@vg.operator
def number(v):
    v.y = v.id * 7 % 47


LABELS = ("scaled", "around", "found", "flags", "again", "below", "sides", "joined", "best_two")


def shaped(shape: str, *, directed: bool) -> vg.Graph:
    """Graphs with vertices for threads, for warps and for blocks."""
    n = 150
    rng = np.random.default_rng(len(shape))
    src, dst = rng.integers(0, n, 3 * n), rng.integers(0, n, 3 * n)
    if shape == "hubs":
        src, dst = (
            np.r_[src, np.full(2 * n, 5), np.arange(n)],
            np.r_[dst, np.arange(2 * n) % n, np.full(n, 9)],
        )
    elif shape == "no edges":
        src = dst = src[:0]
    return vg.Graph.from_edges(src, dst, num_vertices=n, directed=directed)


@pytest.mark.covering(2)
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("shape", ["hubs", "random", "no edges"])
@pytest.mark.parametrize("balance", GROUPS, ids=lambda b: b.kind)
def test_the_answer_is_that_of_the_cpu(balance: vg.Balance, shape: str, directed: bool, gpu: Any) -> None:
    graph = shaped(shape, directed=directed)
    seed = zlib.crc32(f"{balance.kind} {shape} {directed}".encode())
    if isinstance(gpu, EmulatedDevice):
        gpu.multiprocessors, gpu.block, gpu.seed = [(1, 32), (2, 64), (3, 64)][seed % 3] + (seed % 1000,)
    options = [{}, {"drive": vg.TOPOLOGY}, {"frontier": vg.BITMAP}][seed // 3 % 3]
    schedule = vg.Schedule()
    for label in LABELS:
        schedule = schedule.at(label, balance=balance)
    for label in ("flags", "again", "below"):
        schedule = schedule.at(
            label, balance=balance, **(options if label == "again" or "drive" in options else {})
        )
    expected = vg.run(all_of_them, graph, device="cpu", wanted=seed % 5)
    result = vg.run(all_of_them, graph, device="cuda", schedule=schedule, wanted=seed % 5)
    for name in expected.names:
        a, b = np.asarray(getattr(expected, name)), np.asarray(getattr(result, name))
        if a.dtype.kind == "f":
            np.testing.assert_allclose(b, a, rtol=1e-12, err_msg=name)
        else:
            np.testing.assert_array_equal(b, a, err_msg=name)


def test_chosen_for_what_cannot_be_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = shaped("hubs", directed=True)

    undirected = shaped("hubs", directed=False)

    def chosen(
        facts: Facts, algorithm: Any = all_of_them, graph: vg.Graph = graph, **given: Any
    ) -> dict[str, str]:
        monkeypatch.setattr(policy, "facts_of", lambda *_: facts)
        rows = vg.explain(algorithm, graph, device="cuda", **given).schedule.splitlines()
        found = {row.partition(":")[0]: re.search(r"balance=(\w+)", row) for row in rows}
        return {label: match[1] for label, match in found.items() if match}

    assert chosen(Facts(large=True), wanted=0) == dict.fromkeys(LABELS, "twc")
    assert chosen(Facts(large=True, short_lists=True), wanted=0) == {}
    assert chosen(Facts(), wanted=0) == {}
    assert chosen(Facts(large=True), vg.algorithms.k_core, undirected)["count"] == "split"


def test_pulls_behind_a_guard_take_the_lanes_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = shaped("hubs", directed=False)
    monkeypatch.setattr(policy, "facts_of", lambda *_: Facts(large=True))

    def pulls(balance: vg.Balance) -> list[str]:
        schedule = vg.Schedule().at("reach", balance=balance)
        text = vg.explain(vg.algorithms.betweenness, graph, schedule=schedule, device="cuda").cuda
        return re.findall(r"(by_\w+)\(set_bits\(reach_open", text)

    assert pulls(vg.VERTEX) == []
    expected = {vg.WARP: "warp", vg.BLOCK: "block", vg.TWC: "bins", vg.EDGE: "bins", vg.SPLIT(10): "bins"}
    assert {balance: pulls(balance) for balance in expected} == {b: [f"by_{x}"] for b, x in expected.items()}


# --- operators that they cannot share ----------------------------------------------------------------------------


@vg.operator
def chained(v):
    last = vg.int64(0)
    for u in v.out_neighbors:
        last = last * 2 + u.y
    v.x = last


@vg.operator
def best(v):
    most = vg.int64(-1)
    for u in v.out_neighbors:
        if u.y > most:
            most = u.y
    v.x = most


@vg.operator
def looks_back(v):
    most = vg.int64(-1)
    who = vg.none
    for u in v.out_neighbors:
        if u.y >= most:
            most, who = max((most, who), (u.y, u))
    v.x = most


@vg.operator
def two_pairs(v):
    most = vg.int64(-1)
    who = vg.none
    other = vg.none
    for u in v.out_neighbors:
        most, who = max((most, who), (u.y, u))
        most, other = max((most, other), (u.y, u))
    v.x = most


@vg.operator
def pair_until(v):
    most = vg.int64(-1)
    who = vg.none
    for u in v.out_neighbors:
        most, who = max((most, who), (u.y, u))
        if u.y > 3:
            break
    v.x = most


@vg.operator
def up_and_down(v):
    most = vg.int64(-1)
    who = vg.none
    for u in v.out_neighbors:
        most, who = max((most, who), (u.y, u))
        most, who = min((most, who), (u.y + 1, u))
    v.x = most


@vg.operator
def own_pair(v):
    for u in v.out_neighbors:
        v.y, v.z = min((v.y, v.z), (u.x, 3), (v.z, v.y + 1))


@vg.operator
def running(v):
    total = vg.int64(0)
    most = vg.int64(0)
    for u in v.out_neighbors:
        total += u.y
        most = max(most, total)
    v.x = most


@vg.operator
def two_ways(v):
    total = vg.int64(0)
    for u in v.out_neighbors:
        total += u.y
        total = max(total, 3)
    v.x = total


@vg.operator
def on_and_off(v):
    last = False
    for u in v.out_neighbors:
        if u.y > 3:
            last = True
        else:
            last = False
    v.x = 1 if last else 0


@vg.operator
def other_flag(v):
    waits = False
    excluded = False
    for u in v.out_neighbors:
        if u.y == 1:
            excluded = True
            break
        if u.y == 0:
            waits = True
    v.x = 1 if excluded else 2 if waits else 0


@vg.operator
def leaves_first(v):
    some = False
    for u in v.out_neighbors:
        if u.y == 0:
            break
        some = True
    v.x = 1 if some else 0


@vg.operator
def sum_until(v):
    total = vg.int64(0)
    for u in v.out_neighbors:
        total += u.y
        if u.y == 3:
            break
    v.x = 2 * total


@vg.operator
def effect_until(v):
    some = False
    for u in v.out_neighbors:
        u.x += 1
        if u.y == 3:
            some = True
            break
    v.z = 1 if some else 0


@vg.operator
def per_arc(v):
    for u in v.out_neighbors:
        v.x = u.y


@vg.operator
def inside(v):
    total = vg.int64(0)
    for k in range(2):
        for u in v.out_neighbors:
            total += u.y + k
    v.x = 2 * total


@vg.operator
def pairs(v):
    total = vg.int64(0)
    for u in v.out_neighbors:
        for w in v.out_neighbors:
            total += u.y * w.y
    v.x = 2 * total


@vg.operator
def counted(v):
    most = vg.int64(0)
    for u in v.out_neighbors:
        u.tally += 1
        most += u.tally
    v.x = most


@vg.operator
def walks_none(v):
    v.x = v.y


def applied(operator: vg.OperatorDef) -> vg.AlgorithmDef:
    """An algorithm that applies one of them."""

    @vg.algorithm
    def main(graph):
        x = graph.vertex_property(vg.int64)
        y = graph.vertex_property(vg.int64)
        z = graph.vertex_property(vg.int64)
        tally = graph.scratch(vg.int64)
        graph.vertex_apply(operator, label="here")
        return x, y, z

    return main


REFUSED = (
    chained, best, running, two_ways, on_and_off, other_flag, leaves_first, sum_until, effect_until, per_arc, inside,
    pairs, counted, walks_none, looks_back, two_pairs, pair_until, up_and_down, own_pair,
)  # fmt: skip


def test_refusals(golden: Callable[[Path, str], None]) -> None:
    graph = shaped("hubs", directed=True)
    shown = []
    for number, operator in enumerate(REFUSED):
        schedule = vg.Schedule().at("here", balance=GROUPS[number % len(GROUPS)])
        with pytest.raises(vg.ScheduleError) as caught:
            vg.explain(applied(operator), graph, schedule, device="cuda")
        shown.append(str(caught.value).replace(__file__, "test_lanes.py"))
    golden(GOLDEN / "lanes_refused.txt", "\n\n".join(shown) + "\n")


# --- kernel IR ---------------------------------------------------------------------------------------------------

V, U, X = ir.Var("v", VID), ir.Var("u", VID), ir.Var("x", I64)
LOAD = ir.Load("y", U, I64)
TRUE, FALSE = ir.Const(True, BOOL), ir.Const(False, BOOL)
SET, LEAVE = ir.Assign("f", TRUE), ir.Break()
WHEN = ir.Compare(">", LOAD, ir.Const(3, I64))


def over(*body: ir.Stmt, of: ir.Expr = V, side: ir.Orientation = ir.Orientation.OUT) -> ir.ForNeighbors:
    return ir.ForNeighbors("u", "e", of, side, body)


@pytest.mark.parametrize(
    ("body", "sums"),
    [
        ((ir.Accumulate("+", "x", LOAD),), {"x": ("+", I64)}),
        ((ir.Assign("x", ir.Binary("+", X, LOAD)),), {"x": ("+", I64)}),
        ((ir.Assign("x", ir.Binary("+", X, X)),), None),
        ((ir.Assign("x", ir.Binary("-", X, LOAD)),), None),
        ((ir.Accumulate("+", "x", LOAD), ir.Accumulate("max", "x", LOAD)), None),
        ((ir.Accumulate("+", "x", LOAD), ir.Store("y", V, X)), None),
        ((ir.Let("x", I64, LOAD), ir.Accumulate("+", "x", LOAD), ir.Accumulate("max", "z", X)), {"z": ("max", I64)}),
        ((ir.Reduce("min", "y", U, LOAD, changed="f"),), {"f": ("|", None)}),
        ((ir.CompareAndSwap("ok", "y", U, LOAD, LOAD),), None),
        ((ir.If(WHEN, (SET, LEAVE)),), {"f": ("|", None)}),
        ((ir.If(WHEN, (SET,)), ir.If(WHEN, (LEAVE,))), None),
        ((SET, ir.If(WHEN, (LEAVE,))), {"f": ("|", None)}),
        ((ir.If(WHEN, (SET, LEAVE)), ir.Assign("g", FALSE)), None),
        ((ir.If(WHEN, (SET, ir.Assign("g", FALSE), LEAVE)),), {"f": ("|", None), "g": ("&", None)}),
        ((ir.If(WHEN, (SET,)), ir.If(WHEN, (ir.Assign("f", FALSE),))), None),
        ((ir.If(WHEN, (SET, LEAVE)), ir.Store("y", U, LOAD)), None),
        ((ir.If(WHEN, (ir.Accumulate("+", "x", LOAD), LEAVE)),), None),
        ((ir.While(WHEN, (LEAVE,)), ir.Accumulate("+", "x", LOAD)), {"x": ("+", I64)}),
    ],
)  # fmt: skip
def test_what_a_loop_carries(body: ir.Body, sums: Any) -> None:
    assert carried(over(*body)) == sums


def test_all_loops_over_own_arcs_are_shared_or_none() -> None:
    add = ir.Accumulate("+", "x", LOAD)
    out, into, other = over(add), over(add, side=ir.Orientation.IN), over(add, of=ir.Var("w", VID))
    chain = over(ir.Assign("x", ir.Binary("-", X, LOAD)), side=ir.Orientation.IN)

    def shared(*body: ir.Stmt, **changes: Any) -> frozenset[int]:
        return shared_loops(ir.ParFor("v", ir.Vertices(), body, lanes=ir.Lanes.BINS, **changes))

    assert shared(out, into, other) == {id(out), id(into)}
    assert shared(ir.If(WHEN, (out,)), into) == {id(out), id(into)}
    assert shared(out, chain) == frozenset()
    assert shared(out, chain, cut=ir.Orientation.OUT) == {id(out)}
    assert shared(out, ir.While(WHEN, (into,))) == frozenset()
    assert shared(out, ir.ScratchClear("y")) == frozenset()
    assert shared(over(ir.Store("y", V, LOAD))) == frozenset()
    assert shared(over(ir.Reduce("+", "y", V, LOAD))) == frozenset()
    assert shared(other) == frozenset()


# --- vectors -----------------------------------------------------------------------------------------------------


@vg.operator
def placed(v):
    v.p = v.id % 7 + 0.5
    v.y = v.id % 5


@vg.operator
def moved(v):
    total = v.p * 0
    for u in v.out_neighbors:
        total += u.p
    v.q = v.p * 2 + total
    v.y = v.y + 1


@vg.operator
def raised(src, edge, dst):
    dst.most = max(dst.most, src.p)


@vg.algorithm
def vectors(graph):
    """Reads at the vertex itself what the kernel writes, which the lanes have to agree on."""
    p = graph.vertex_property(vg.vector(vg.float32, 3))
    q = graph.vertex_property(vg.vector(vg.float32, 3))
    most = graph.vertex_property(vg.vector(vg.float32, 3))
    y = graph.vertex_property(vg.int64)
    graph.vertex_apply(placed)
    graph.vertex_apply(moved)
    graph.edge_apply(raised)
    return q, most, y


@pytest.mark.parametrize("balance", [*GROUPS, vg.EDGE, vg.SPLIT(4)], ids=lambda b: b.kind)
def test_vectors(balance: vg.Balance, gpu: Any) -> None:
    graph = shaped("hubs", directed=True)
    schedule = vg.Schedule().at("raised", balance=balance, direction=vg.PULL)
    if balance in GROUPS:
        schedule = schedule.at("moved", balance=balance)
    expected = vg.run(vectors, graph, device="cpu")
    result = vg.run(vectors, graph, device="cuda", schedule=schedule)
    for name in expected.names:
        np.testing.assert_array_equal(getattr(result, name), getattr(expected, name), err_msg=name)

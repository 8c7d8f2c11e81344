"""Frontiers and lists: pushes with and without deduplication, layouts, copies, swaps, epochs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from llvm_harness import CSR, Outcome, program, run

from vgraph.compiler import ir
from vgraph.compiler.types import BOOL, I32, I64, VID, Target, Type

V = ir.Var("v", VID)
WIDE = ir.Cast(I64, V)
SPARSE, BITMAP = ir.Layout.SPARSE, ir.Layout.BITMAP
SIZES = [0, 1, 63, 64, 65, 5000]
THREADS = [1, 2, 4]


def const(x: int) -> ir.Const:
    return ir.Const(x, I64)


def multiple(k: int) -> ir.Expr:
    return ir.Compare("==", ir.Binary("%", WIDE, const(k)), const(0))


def fill_with(name: str, layout: ir.Layout, condition: ir.Expr, **options: Any) -> list[ir.Stmt]:
    """Clear the frontier and push the vertices for which `condition` holds."""
    push = ir.FrontierPush(name, V, layout, **{"dedupe": False, "atomic": True, **options})
    return [ir.FrontierClear(name, layout), ir.ParFor("v", ir.Vertices(), (ir.If(condition, (push,)),))]


def show(name: str, layout: ir.Layout, out: str = "o") -> ir.Stmt:
    """Add 1 at every member."""
    return ir.ParFor("v", ir.members(name, layout), (ir.Reduce("+", out, V, ir.Const(1, I32), atomic=True),))


def go(
    body: list[ir.Stmt],
    n: int,
    threads: int,
    outs: str = "o",
    frontiers: str = "fg",
    lists: list[str] | None = None,
    target: Target | None = None,
    **options: Any,
) -> Outcome:
    properties: dict[str, Type] = {name: I32 for name in outs}
    results = [ir.Result("size", "scalar", ir.FrontierSize("f"))]
    p = program(
        body,
        properties=properties,
        frontiers=list(frontiers),
        results=results,
        lists=lists,
        target=target,
        threads=1 if threads == 1 else 0,
        **options,
    )
    return run(p, CSR.of(n, [], []), {name: np.zeros(n, np.int32) for name in outs}, threads=threads)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("layout", ir.Layout, ids=lambda x: x.value)
@pytest.mark.parametrize("bits", [32, 64])
def test_push_and_walk(layout: ir.Layout, n: int, threads: int, bits: int) -> None:
    body = [*fill_with("f", layout, multiple(3)), show("f", layout)]
    got = go(body, n, threads, target=Target(bits, bits))
    np.testing.assert_array_equal(got.arrays["o"], np.arange(n) % 3 == 0)
    assert got.results["size"] == -(-n // 3)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("layout", ir.Layout, ids=lambda x: x.value)
def test_deduplication(layout: ir.Layout, threads: int) -> None:
    """Seven vertices, others in every round, are pushed by many; 600 rounds use up the epochs of flags."""
    n, rounds = 700, 600
    r = ir.Var("r", I64)
    few = ir.Binary("+", ir.Binary("%", WIDE, const(7)), r)
    again = ir.Binary("+", ir.Binary("%", ir.Binary("*", WIDE, const(3)), const(7)), r)
    pushes = tuple(ir.FrontierPush("f", ir.Cast(VID, x), layout, dedupe=True) for x in (few, again))
    loop = ir.For(
        "r",
        const(0),
        const(rounds),
        const(1),
        (
            ir.FrontierClear("f", layout),
            ir.ParFor("v", ir.Vertices(), pushes),
            show("f", layout),
            *((ir.Single((ir.FrontierSwap("f", "g"),)),) if layout is SPARSE else ()),
        ),
    )
    got = go([loop], n, threads)
    want = sum((np.arange(n) >= k) & (np.arange(n) < rounds + k) for k in range(7))
    np.testing.assert_array_equal(got.arrays["o"], want)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("first", "second"), [(SPARSE, BITMAP), (BITMAP, SPARSE), (SPARSE, SPARSE)])
def test_convert(first: ir.Layout, second: ir.Layout, n: int, threads: int) -> None:
    """There and back; converting to the layout it has is nothing."""
    body = [
        *fill_with("f", first, multiple(5)),
        ir.FrontierConvert("f", second),
        ir.FrontierConvert("f", second),
        show("f", second),
        ir.FrontierConvert("f", first),
        show("f", first, "p"),
    ]
    got = go(body, n, threads, outs="op")
    for name in "op":
        np.testing.assert_array_equal(got.arrays[name], np.arange(n) % 5 == 0)
    assert got.results["size"] == -(-n // 5)


@pytest.mark.parametrize("threads", THREADS)
def test_a_queue_made_from_a_bitmap_is_sorted(threads: int) -> None:
    n = 1000
    body = [*fill_with("f", BITMAP, multiple(3)), ir.FrontierConvert("f", SPARSE), ir.ListAppend("l", "f")]
    (ids,) = go(body, n, threads, lists=["l"]).lists[0]
    np.testing.assert_array_equal(ids, np.arange(0, n, 3))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("layout", ir.Layout, ids=lambda x: x.value)
@pytest.mark.parametrize("kind", ir.FrontierKind, ids=lambda x: x.value)
@pytest.mark.parametrize("n", [1, 64, 100])
def test_set(kind: ir.FrontierKind, layout: ir.Layout, n: int, threads: int) -> None:
    vertex = ir.Const(n // 2, VID) if kind is ir.FrontierKind.SINGLE else None
    body = [*fill_with("f", layout, multiple(1)), ir.FrontierSet("f", kind, vertex), show("f", layout)]
    got = go(body, n, threads)
    want = {
        ir.FrontierKind.EMPTY: np.zeros(n),
        ir.FrontierKind.ALL: np.ones(n),
        ir.FrontierKind.SINGLE: np.arange(n) == n // 2,
    }
    np.testing.assert_array_equal(got.arrays["o"], want[kind])
    assert got.results["size"] == want[kind].sum()


@pytest.mark.parametrize("threads", [1, 3])
def test_all_in_either_layout(threads: int) -> None:
    everything = ir.FrontierSet("f", ir.FrontierKind.ALL)
    body = [
        everything,
        ir.FrontierConvert("f", SPARSE),
        show("f", SPARSE),
        everything,
        ir.FrontierConvert("f", BITMAP),
        show("f", BITMAP),
    ]
    assert (go(body, 130, threads).arrays["o"] == 2).all()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("layout", ir.Layout, ids=lambda x: x.value)
def test_copy_and_swap(layout: ir.Layout, threads: int) -> None:
    n = 500
    body = [
        *fill_with("f", layout, multiple(3)),
        ir.FrontierCopy("g", "f"),
        *fill_with("f", layout, multiple(7)),
        show("g", layout, "o"),
        ir.FrontierSwap("f", "g"),
        show("g", layout, "p"),
        show("f", layout, "q"),
        ir.FrontierCopy("f", "f"),
    ]
    got = go(body, n, threads, outs="opq")
    for name, k in zip("opq", (3, 7, 3), strict=True):
        np.testing.assert_array_equal(got.arrays[name], np.arange(n) % k == 0)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("atomic", [True, False])
def test_membership_and_words_of_one_thread(threads: int, atomic: bool) -> None:
    """With `words`, plain pushes into a bitmap are safe: nobody else touches the word."""
    n = 70_001
    inside = ir.InFrontier("f", V)
    out = ir.If(ir.Unary("not", inside), (ir.FrontierPush("g", V, BITMAP, dedupe=True, atomic=atomic),))
    body = [
        *fill_with("f", BITMAP, multiple(3)),
        ir.FrontierClear("g", BITMAP),
        ir.ParFor("v", ir.VertexWords(), (out,)),
        show("g", BITMAP),
        ir.FrontierCopy("f", "g"),
    ]
    got = go(body, n, threads)
    np.testing.assert_array_equal(got.arrays["o"], np.arange(n) % 3 != 0)
    assert got.results["size"] == got.arrays["o"].sum()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("layout", ir.Layout, ids=lambda x: x.value)
@pytest.mark.parametrize("bits", [32, 64])
def test_lists(layout: ir.Layout, threads: int, bits: int) -> None:
    """Frontiers of multiples of 2, 3, 4 ...; read back by index, from the end, and out of range."""
    n, rounds = 700, 40
    r = ir.Var("r", I64)
    divides = ir.Compare("==", ir.Binary("%", WIDE, ir.Binary("+", r, const(2))), const(0))
    fill = ir.For(
        "r", const(0), const(rounds), const(1), (*fill_with("f", layout, divides), ir.ListAppend("l", "f"))
    )
    read: list[ir.Stmt] = []
    for name, index in (("o", const(3)), ("p", const(-1)), ("q", const(rounds)), ("r", const(-rounds - 1))):
        read += [ir.ListGet("g", "l", index), show("g", SPARSE, name)]
    size = ir.Result("count", "scalar", ir.ListSize("l"))
    p = program(
        [ir.ListClear("l"), fill, *read],
        properties=dict.fromkeys("opqr", I32),
        frontiers=["f", "g"],
        lists=["l"],
        results=[size],
        threads=1 if threads == 1 else 0,
        target=Target(bits, bits),
    )
    got = run(p, CSR.of(n, [], []), {x: np.zeros(n, np.int32) for x in "opqr"}, threads=threads)
    assert got.results["count"] == rounds
    for k, ids in enumerate(got.lists[0]):
        np.testing.assert_array_equal(np.sort(ids), np.arange(0, n, k + 2))
    np.testing.assert_array_equal(got.arrays["o"], np.arange(n) % 5 == 0)
    np.testing.assert_array_equal(got.arrays["p"], np.arange(n) % (rounds + 1) == 0)
    assert not got.arrays["q"].any()
    assert not got.arrays["r"].any()


@pytest.mark.parametrize("threads", [1, 3])
def test_clearing_a_list(threads: int) -> None:
    body = [
        *fill_with("f", SPARSE, multiple(2)),
        ir.ListAppend("l", "f"),
        ir.ListClear("l"),
        ir.ListAppend("l", "f"),
    ]
    (ids,) = go(body, 10, threads, lists=["l"]).lists[0]
    assert sorted(ids) == [0, 2, 4, 6, 8]


@pytest.mark.parametrize("threads", [1, 4])
def test_single_prepares_a_frontier(threads: int) -> None:
    single = ir.Single(
        (
            ir.FrontierSet("f", ir.FrontierKind.SINGLE, ir.Const(3, VID)),
            ir.FrontierClear("g", SPARSE),
            ir.FrontierPush("g", ir.Const(5, VID), SPARSE, dedupe=True),
            ir.FrontierPush("g", ir.Const(5, VID), SPARSE, dedupe=True),
            ir.FrontierPush("f", ir.Const(3, VID), SPARSE, dedupe=True),
            ir.FrontierPush("f", ir.Const(4, VID), SPARSE, dedupe=True),
            ir.FrontierSwap("f", "g"),
        )
    )
    got = go([single, show("f", SPARSE, "o"), show("g", SPARSE, "p")], 8, threads, outs="op")
    np.testing.assert_array_equal(got.arrays["o"], [0, 0, 0, 0, 0, 1, 0, 0])
    np.testing.assert_array_equal(got.arrays["p"], [0, 0, 0, 1, 1, 0, 0, 0])
    assert got.results["size"] == 1


def test_interface_says_what_each_frontier_needs() -> None:
    from llvm_harness import BACKEND

    body = [
        *fill_with("f", SPARSE, ir.Const(True, BOOL), dedupe=True),
        ir.FrontierSwap("f", "g"),
        *fill_with("h", BITMAP, ir.Const(True, BOOL)),
    ]
    face = BACKEND.emit(program(body, frontiers=["f", "g", "h"])).interface
    assert [(s.bitmap, s.flags) for s in face.frontiers] == [(False, True), (False, True), (True, False)]

"""The loop shapes that everything else is built from."""

from __future__ import annotations

from collections.abc import Callable

from vgraph.compiler.backends.llvm.emitter import Emitter

LoopBody = Callable[[str, str, str], None]
"""Emits a loop's body, given the counter, the block of the next round, and that behind the loop."""


def counted(f: Emitter, begin: str, end: str, body: LoopBody, hint: str, metadata: str = "") -> None:
    """`for i in begin .. end` (i64, begin <= end), in the form that LLVM vectorises and unrolls."""
    before, head, inside, again, leave = f.block, *(f.label(hint + s) for s in ("", ".body", ".next", ".end"))
    f.start(head)
    i, following = f"%i.{head}", f"%n.{head}"
    f.lines.append(f"  {i} = phi i64 [ {begin}, %{before} ], [ {following}, %{again} ]")
    f.branch(f.op(f"icmp ne i64 {i}, {end}"), inside, leave)
    f.start(inside)
    body(i, again, leave)
    f.start(again)
    f.do(f"{following} = add nuw nsw i64 {i}, 1")
    f.jump(head, metadata)
    f.start(leave)


def set_bits(f: Emitter, word: str, number: str, body: LoopBody) -> None:
    """For every bit set in i64 `word`, ascending: the vertex 64 * `number` + bit."""
    before, head, inside, again, leave = f.block, *map(f.label, ("bits", "bit", "bits.next", "bits.end"))
    base = f.op(f"shl nuw nsw i64 {number}, 6")
    f.start(head)
    rest, following = f"%w.{head}", f"%n.{head}"
    f.lines.append(f"  {rest} = phi i64 [ {word}, %{before} ], [ {following}, %{again} ]")
    f.branch(f.op(f"icmp eq i64 {rest}, 0"), leave, inside)
    f.start(inside)
    bit = f.call("i64", "llvm.cttz.i64", f"i64 {rest}", "i1 true")
    f.do(f"{following} = and i64 {rest}, {f.op(f'add i64 {rest}, -1')}")
    body(f.op(f"or disjoint i64 {base}, {bit}"), again, leave)
    f.start(again)
    f.jump(head)
    f.start(leave)

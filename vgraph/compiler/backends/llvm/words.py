"""Parallel loops over bitmaps, 64 vertices at a time: what can be done for a whole word at once."""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.backends.llvm.emitter import Emitter
from vgraph.compiler.backends.llvm.expressions import row_offset
from vgraph.compiler.backends.llvm.loops import counted, set_bits
from vgraph.compiler.backends.scan import walk_body
from vgraph.compiler.types import BOOL, VID

_READ: Final = 0
_EVERY_LEVEL: Final = 3
"""Arguments of `llvm.prefetch`: to be read, and kept in all levels of the cache."""

_STRAIGHT: Final = (
    ir.Binary, ir.Cast, ir.Compare, ir.Const, ir.Degree, ir.GlobalVar, ir.GraphSize, ir.Load, ir.Logical, ir.Var,
)  # fmt: skip


def selection(node: ir.ParFor) -> ir.FrontierPush | None:
    """The push of a loop `parfor v in vertices words { if c { push f v bitmap } }` whose condition only reads at v.

    Such a loop needs no branch per vertex, which on a random bitmap would be foretold wrongly half of the time.
    """
    match node:
        case ir.ParFor(domain=ir.VertexWords(), body=(ir.If(condition=c, then=(push,), other=()),)):
            if not isinstance(push, ir.FrontierPush) or push.layout is not ir.Layout.BITMAP or push.atomic:
                return None
            own = _is(push.vertex, node.vertex) and all(_straight(e, node.vertex) for e in ir.walk(c))
            return push if own else None
    return None


def _is(e: ir.Node, name: str) -> bool:
    return isinstance(e, ir.Var) and e.name == name


def _straight(e: ir.Node, vertex: str) -> bool:
    """Whether it may be computed for any vertex, needed or not, without a branch and without a fault."""
    if isinstance(e, ir.Load):
        return _is(e.index, vertex) and e.order is ir.Order.PLAIN
    if isinstance(e, ir.Degree):
        return _is(e.vertex, vertex)
    return isinstance(e, _STRAIGHT) and not (isinstance(e, ir.Binary) and e.op in ("//", "%", "**", "/"))


def _branchless(n: ir.Node) -> ir.Node | None:
    if isinstance(n, ir.Logical):
        return ir.Binary("&" if n.op == "and" else "|", n.left, n.right)
    return None


def emit_selected(f: Emitter, node: ir.ParFor, word: str) -> None:
    """Bitmap word number `word` of a loop that `selection` knows: its vertices' conditions, as bits."""
    (choice,) = node.body
    assert isinstance(choice, ir.If)
    condition = ir.transform(choice.condition, _branchless)
    assert condition.type == BOOL
    mask = f.slot("i64", "mask")
    f.do(f"store i64 0, ptr {mask}")
    begin = f.op(f"shl nuw nsw i64 {word}, 6")
    end = f.call("i64", "llvm.umin.i64", f"i64 {f.op(f'add nuw nsw i64 {begin}, 64')}", "i64 %num_vertices")

    def each(vertex: str, _: str, __: str) -> None:
        saved = dict(f.locals)
        f.bind(node.vertex, f.narrow(vertex, VID))
        bit = f.op(f"zext i1 {f.expr(condition).text} to i64")
        moved = f.op(f"shl nuw i64 {bit}, {f.op(f'and i64 {vertex}, 63')}")
        before = f.op(f"load i64, ptr {mask}")
        f.do(f"store i64 {f.op(f'or i64 {before}, {moved}')}, ptr {mask}")
        f.locals = saved

    counted(f, begin, end, each, "select")
    push = selection(node)
    assert push is not None
    assert f.region is not None
    into = f.region.pushes[push.frontier, push.layout]
    old = f.read("i64", into.array, word, "bits")
    new = f.op(f"or i64 {old}, {f.op(f'load i64, ptr {mask}')}")
    f.write("i64", into.array, word, new, "bits")
    added = f.call("i64", "llvm.ctpop.i64", f"i64 {f.op(f'xor i64 {old}, {new}')}")
    n = f.op(f"load i64, ptr {into.count}")
    f.do(f"store i64 {f.op(f'add i64 {n}, {added}')}, ptr {into.count}")


def fetch_ahead(f: Emitter, node: ir.ParFor, bits: str, word: str) -> None:
    """Ask for the first arcs of the members of the bitmap's next word, if the loop walks arcs of its members.

    The members lie apart, so the processor's own prefetching does not foresee them, and a body that leaves its arcs
    early is mispredicted too often for many to be under way at once. A breadth-first search becomes 1.4 times as fast.
    """
    walked = _walked(node)
    if walked is None:
        return
    last = f.op(f"lshr i64 {f.op('add i64 %num_vertices, -1')}, 6")
    following = f.call("i64", "llvm.umin.i64", f"i64 {f.op(f'add nuw nsw i64 {word}, 1')}", f"i64 {last}")

    def ask(vertex: str, _: str, __: str) -> None:
        first = f.item(
            f.types.id, f.pointers[f"{walked.value}.column_indices"], row_offset(f, walked, vertex)
        )
        f.call("void", "llvm.prefetch.p0", f"ptr {first}", f"i32 {_READ}", f"i32 {_EVERY_LEVEL}", "i32 1")

    set_bits(f, f.read("i64", bits, following, "bits"), following, ask)


def _walked(node: ir.ParFor) -> ir.Orientation | None:
    """In which orientation the loop walks the arcs of its own vertex, if it does."""
    for inner in walk_body(node.body):
        if isinstance(inner, ir.ForNeighbors) and _is(inner.of, node.vertex):
            return inner.orientation
    return None

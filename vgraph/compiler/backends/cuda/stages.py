"""Loops that take a few arcs at a time, so that a lane has several loads under way; and which are searches.

Most atomic updates fail, and a look at the place tells. So the arcs' ends are loaded first, then the values, then what
the places hold, and only where the update would succeed the rest of the body is executed (`in_stages` in `stages.cuh`).
"""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.lanes import leaves, own_arcs
from vgraph.compiler.backends.cuda.emitter import Emitter
from vgraph.compiler.backends.cuda.texts import is_real, type_name
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.types import BOOL, Scalar, is_long

Update = ir.Reduce | ir.CompareAndSwap
_VALUE: Final = "value of the arc"
_OFF: Final = ir.Const(False, BOOL)


def tried(node: ir.ForNeighbors) -> Update | None:
    """The atomic update on which all effects of an arc hang; None if there is no such."""
    found = next((n for n in node.body if not isinstance(n, ir.Let)), None)
    if not (isinstance(found, ir.Reduce | ir.CompareAndSwap) and found.atomic and _is_plain(found, node)):
        return None
    at = node.body.index(found)
    lets = [s for s in node.body[:at] if isinstance(s, ir.Let)]
    if any(_may_change(n) for s in lets for n in walk(s)):
        return None
    off = {s.name for s in lets if s.value == _OFF}
    ok = found.ok if isinstance(found, ir.CompareAndSwap) else found.changed
    if isinstance(found, ir.CompareAndSwap) and ok not in off:
        return None
    sure = {ok} & off
    for s in node.body[at + 1 :]:
        if not (isinstance(s, ir.If) and isinstance(s.condition, ir.Var) and s.condition.name in sure):
            return None
        if s.other or any(isinstance(n, ir.Break | ir.Continue) for n in walk(s)):
            return None
        sure |= {n.name for n in walk(s) if isinstance(n, ir.Assign) and n.name in off}
    return found


def _is_plain(update: Update, node: ir.ForNeighbors) -> bool:
    """A number at the neighbor, for which a look tells whether the update would do anything, as would an earlier look:
    nothing else in the loop writes it."""
    if isinstance(update, ir.CompareAndSwap):
        lasts = isinstance(update.expected, ir.Const) and not is_real(update.value.type)
    else:
        lasts = update.op in ("min", "max")
    t = update.value.type
    here = isinstance(update.index, ir.Var) and update.index.name == node.vertex
    writes = [n for n in walk(node) if isinstance(n, ir.Store | Update) and n.prop == update.prop]
    return lasts and here and len(writes) == 1 and isinstance(t, Scalar) and t != BOOL and not is_long(t)


def _may_change(n: ir.Node) -> bool:
    return isinstance(n, ir.Load) and n.order is ir.Order.RELAXED


def emit_in_stages(f: Emitter, node: ir.ForNeighbors, update: Update, columns: str, bounds: str) -> None:
    """The loop over the arcs of a piece."""
    e, u = f.local(node.edge), f.local(node.vertex)
    at = node.body.index(update)
    t, new = type_name(update.value.type), f.local(_VALUE)
    place = f"&{f.prop(update.prop)}[{u}]"
    value, look, attempt, act = (f.temporary(word) for word in ("value", "look", "attempt", "act"))
    if isinstance(update, ir.Reduce):
        better = {"min": "Min", "max": "Max"}[update.op]
        would, does = (
            f"{better}::better({new}, stale({place}))",
            f"try_extreme<{str(update.op == 'min').lower()}>({place}, {new})",
        )
        ok = update.changed
    else:
        expected = f.expr(update.expected)
        would, does = f"stale({place}) == {expected}", f"try_claim<{t}>({place}, {expected}, {new})"
        ok = update.ok
    with f.block(f"auto {value} = [&](eid {e}, vid {u}) -> {t}", "};"):
        f.body(tuple(s for s in node.body[:at] if isinstance(s, ir.Let) and s.value != _OFF))
        f.line(f"return {f.expr(update.value)};")
    for name, text in ((look, would), (attempt, does)):
        f.line(f"auto {name} = [&](vid {u}, {t} {new}) -> bool {{ return {text}; }};")
    with f.block(f"auto {act} = [&](eid {e}, vid {u}, {t} {new})", "};"):
        told: ir.Body = (ir.Assign(ok, ir.Const(True, BOOL)),) if ok else ()
        f.offered = update.prop, update.index, ir.Var(_VALUE, update.value.type)
        f.body((*node.body[:at], *told, *node.body[at + 1 :]))
        f.offered = None
    f.line(f"in_stages<{t}>(lanes, {bounds}, {columns}, {value}, {look}, {attempt}, {act});")


def claim_guard(loop: ir.ParFor | ir.BucketLoop) -> ir.Expr | None:
    """The guard of a loop on pieces that does nothing but claim its own vertex, once: it searches an arc to do it by.

    Where it no longer holds nothing is left to do, so a vertex may be visited again with more arcs. None of other
    loops.
    """
    if not (len(loop.body) == 1 and isinstance(loop.body[0], ir.If) and not loop.body[0].other):
        return None
    guard = loop.body[0].condition
    inside = [n for n in walk(loop.body[0]) if not isinstance(n, ir.Expr)]
    claims = [n for n in inside if isinstance(n, ir.CompareAndSwap)]
    arcs = [n for n in inside if isinstance(n, ir.ForNeighbors)]
    searches = arcs and all(own_arcs(n, loop.vertex, loop.cut) and leaves(n.body) for n in arcs)
    tested = {(n.left, n.right) for n in walk(guard) if isinstance(n, ir.Compare) and n.op == "=="}
    opens = {(ir.Load(n.prop, n.index, n.value.type, ir.Order.RELAXED), n.expected) for n in claims}
    once = not any(isinstance(n, ir.Piece) and n.share is ir.Share.FIRST for n in walk(loop.body[0]))
    return guard if searches and claims and opens <= tested and once else None

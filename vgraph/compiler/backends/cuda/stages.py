"""Loops that take a few arcs at a time, so that a lane has several loads under way: updates of neighbors, and searches.

Most atomic updates fail, and a look at the place tells. So the arcs' ends are loaded first, then the values, then what
the places hold, and only where the update would succeed the rest of the body is executed (`in_stages` in `stages.cuh`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.lanes import leaves, own_arcs
from vgraph.compiler.backends.cuda.emitter import Emitter
from vgraph.compiler.backends.cuda.texts import type_name
from vgraph.compiler.ir.rewrite import transform_body, walk, with_fields
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
        lasts = isinstance(update.expected, ir.Const)
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
    t = type_name(update.value.type)
    place = f"&{f.prop(update.prop)}[{u}]"
    value, look, act = (f.temporary(word) for word in ("value", "look", "act"))
    new = ir.Var(_VALUE, update.value.type)
    with f.block(f"auto {value} = [&](eid {e}, vid {u}) -> {t}", "};"):
        f.body(tuple(s for s in node.body[:at] if isinstance(s, ir.Let) and s.value != _OFF))
        f.line(f"return {f.expr(update.value)};")
    with f.block(f"auto {look} = [&](vid {u}, {t} {f.local(_VALUE)}) -> bool", "};"):
        if isinstance(update, ir.Reduce):
            better = {"min": "Min", "max": "Max"}[update.op]
            f.line(f"return {better}::better({f.local(_VALUE)}, stale({place}));")
        else:
            f.line(f"return stale({place}) == {f.expr(update.expected)};")
    with f.block(f"auto {act} = [&](eid {e}, vid {u}, {t} {f.local(_VALUE)})", "};"):
        changed = with_fields(update, {"value": new})
        f.body((*node.body[:at], changed, *node.body[at + 1 :]))
    f.line(f"in_stages<{t}>(lanes, {bounds}, {columns}, {value}, {look}, {act});")


# --- searches --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Search:
    """A loop over arcs that is over at the first for which `test` holds, with `found` done for it. `steps` is the local
    that counts arcs; `gone` tells that others have found one."""

    steps: str
    gone: ir.Expr | None
    test: ir.Expr
    found: ir.Body


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


def searched(loop: ir.ParFor | ir.BucketLoop, node: ir.ForNeighbors) -> Search | None:
    """The search that `node` is in a `loop` that claims its own vertex by one arc; None if it is none."""
    if claim_guard(loop) is None:
        return None
    match node.body:
        case (ir.Assign(steps, ir.Binary("+", ir.Var(same), ir.Const(1))), *rest) if steps == same:
            pass
        case _:
            return None
    gone: ir.Expr | None = None
    match rest:
        case [ir.If(condition, (ir.Break(),), ()), last]:
            gone, rest = condition, [last]
    match rest:
        case [ir.If(test, found, ())]:
            while len(found) == 1 and isinstance(found[0], ir.If) and not found[0].other:
                test, found = ir.Logical("and", test, found[0].condition), found[0].then
            if _leaves_last(found):
                return Search(steps, gone, test, found)
    return None


def _leaves_last(body: ir.Body) -> bool:
    """Whether the loop is left at the end of `body`, unless a claim in it failed, because another one was made."""
    match body:
        case (*_, ir.Break()):
            return True
        case (ir.Let(name), ir.CompareAndSwap(ok), ir.If(ir.Var(told), then, ())) if name == ok == told:
            return _leaves_last(then)
    return False


def emit_search(f: Emitter, node: ir.ForNeighbors, search: Search, columns: str) -> None:
    """The loop over the arcs of a piece."""
    e, u, steps = f.local(node.edge), f.local(node.vertex), f.local(search.steps)
    test, gone, at = (f.temporary(word) for word in ("test", "gone", "found"))
    with f.block(f"auto {test} = [&](eid {e}, vid {u}) -> bool", "};"):
        f.line(f"return {f.expr(search.test)};")
    f.line(f"auto {gone} = [&] {{ return {f.expr(search.gone) if search.gone else 'false'}; }};")
    f.line(f"eid {at} = first_hit(lanes, begin, end, {columns}, {test}, {gone});")
    f.line(f"{steps} = add({steps}, share_of(lanes, begin, {at} < end ? (eid)({at} + 1) : end));")
    with f.block(f"if ({at} < end)"):
        f.line(f"eid {e} = {at};")
        f.line(f"vid {u} = fixed(&{columns}[{e}]);")
        f.body(transform_body(search.found, lambda n: () if isinstance(n, ir.Break) else None))

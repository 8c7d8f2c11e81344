"""Priorities on a set of devices: members agree on the lowest bucket, or the lowest value, that anyone has.

before: `while size(f) > 0 { f = edge_apply(relax, f) schedule(order=delta(64), ...) }`
after:  `@lowest = the least key of f, of all members`
        `while @lowest < NONE { parfor v in sparse f { if key(v) <= @lowest { push f.near v } else { push f.far v } }`
        `swap f f.far; f.near = edge_apply(relax, f.near); parfor v in sparse f.near { push f v }; @lowest = ... }`

before: `f = pop queue`
after:  `@lowest = the least value of queue.waiting, of all members; @queue.level = max(@queue.level, @lowest)`
        `parfor v in sparse queue.waiting { if value(v) <= @queue.level { push f v } else { push queue.far v } }; ...`

Called by `place-exchanges`. A member looks at all that waits in each round, as the near-far method does (Davidson et
al. 2014), so there are no buckets to keep, nobody has to know whose value has changed, and devices of every kind have
the same code. Keys are those of `lower-ordered`, and values those of `lower-queues`. Where members have other ideas of
the width of a bucket (a part's weights are not those of another) any order is legal, and whoever has the lowest key
goes on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from vgraph.compiler import ir
from vgraph.compiler.passes.exchanges import Mails
from vgraph.compiler.passes.lower_ordered import FARTHEST, bucket_key
from vgraph.compiler.passes.lower_queues import queued_value
from vgraph.compiler.types import I64, VID, limits
from vgraph.schedule import UNORDERED

if TYPE_CHECKING:
    from vgraph.compiler.passes.place_exchanges import Placing

NONE: Final = ir.Const(2 * FARTHEST - 1, I64)
"""Above all keys."""


def by_priority(n: ir.Stmt) -> ir.EdgeApply | None:
    """The apply of a loop whose active vertices are taken by priority."""
    match n:
        case ir.While(body=(ir.EdgeApply() as apply,)) if apply.chosen.order != UNORDERED:
            return apply
    return None


def _each(low: Placing, frontier: str, *body: ir.Stmt) -> list[ir.Stmt]:
    """What is done for each vertex `v` of a frontier."""
    v = low.fresh("v")
    loop = ir.ParFor("v", ir.SparseMembers(frontier), body)
    return [ir.FrontierConvert(frontier, ir.Layout.SPARSE), ir.rename(loop, {"v": v})]


def _push(frontier: str) -> ir.Stmt:
    return ir.FrontierPush(frontier, ir.Var("v", VID), ir.Layout.SPARSE, dedupe=True)


def _split(low: Placing, waiting: str, test: ir.Expr, near: str) -> list[ir.Stmt]:
    """`near` becomes what of `waiting` passes a test, which no longer waits."""
    far = low.hidden(f"{waiting}.far")
    clear = [ir.FrontierClear(name, ir.Layout.SPARSE) for name in (near, far)]
    each = _each(low, waiting, ir.If(test, (_push(near),), (_push(far),)))
    return [*clear, *each, ir.FrontierSwap(waiting, far)]


def _least(low: Placing, waiting: str, key: ir.Expr, none: ir.Const, lowest: str, own: str) -> list[ir.Stmt]:
    """The global `lowest` becomes the least key of all that waits anywhere."""
    mails = Mails()
    low.fold(mails, lowest, I64, "min", ir.GlobalVar(own, I64), none)
    each = _each(low, waiting, ir.ReduceGlobal("min", own, key))
    return [ir.SetGlobal(own, none), *each, *low.exchange(mails)]


def in_buckets(low: Placing, n: ir.EdgeApply) -> list[ir.Stmt]:
    """The loop, with what is agreed on in each round."""
    assert n.frontier is not None
    waiting, near = n.frontier, low.hidden(f"{n.frontier}.near")
    lowest, own = low.counter("lowest"), low.counter("lowest.part")
    key = bucket_key(low, n, "v", n.chosen.order)
    now = ir.Compare("<=", key, ir.GlobalVar(lowest, I64))
    inner = replace(n.chosen, order=UNORDERED, deduplicate=True)  # buckets have flags of their own
    apply = ir.with_fields(n, {"frontier": near, "out": near, "schedule": inner})
    low.visits[id(apply)] = low.visits[id(n)]
    body = (
        *_split(low, waiting, now, near),
        *low.apply(apply),
        *_each(low, near, _push(waiting)),
        *_least(low, waiting, key, NONE, lowest, own),
    )
    some = ir.Compare("<", ir.GlobalVar(lowest, I64), NONE)
    low.context.notes.append(f"{n.label}: in each round members agree on the lowest bucket that anyone has")
    return [
        *_least(low, waiting, key, NONE, lowest, own),
        ir.While(some, body),
        *low.sizes(waiting, ir.Const(0, I64)),
    ]


class AgreedQueue:
    """A priority queue of a set: which of a member's vertices wait, and what all know: the level, and how many wait."""

    def __init__(self, low: Placing, decl: ir.QueueDecl) -> None:
        self.low, self.decl = low, decl
        self.waiting = low.hidden(f"{decl.name}.waiting")
        self.level, self.left = (low.counter(f"{decl.name}.{what}") for what in ("level", "left"))
        self._lowest, self._own = (low.counter(f"{decl.name}.{what}") for what in ("lowest", "lowest.part"))

    def filled(self, *, everybody: ir.Expr, mine: str) -> list[ir.Stmt]:
        """All vertices enter."""
        zero = ir.SetGlobal(self.level, ir.Const(0, I64))
        return [ir.FrontierWhere(self.waiting, mine), zero, ir.SetGlobal(self.left, everybody)]

    def popped(self, out: str, size: str) -> list[ir.Stmt]:
        """Those of the lowest level leave; `size` is the global with how many they are."""
        low, level, left = self.low, ir.GlobalVar(self.level, I64), ir.GlobalVar(self.left, I64)
        value, none = queued_value(low, self.decl, "v"), ir.Const(limits(I64)[1], I64)
        risen = ir.SetGlobal(self.level, ir.Binary("max", level, ir.GlobalVar(self._lowest, I64)))
        mails = Mails()
        low.size(mails, out)
        told = f"{self.decl.name}: for each pop members agree on the lowest value that anyone has"
        if told not in low.context.notes:
            low.context.notes.append(told)
        return [
            *_least(low, self.waiting, value, none, self._lowest, self._own),
            ir.If(ir.Compare(">", left, ir.Const(0, I64)), (risen,)),
            *_split(low, self.waiting, ir.Compare("<=", value, level), out),
            *low.exchange(mails),
            ir.SetGlobal(self.left, ir.Binary("-", left, ir.GlobalVar(size, I64))),
        ]

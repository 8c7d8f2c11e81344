"""A loop by priority on a set of devices: in each round members agree on the lowest bucket that anyone has.

before: `while size(f) > 0 { f = edge_apply(relax, f) schedule(order=delta(64), ...) }`
after:  `@lowest = the least key of f, of all members`
        `while @lowest < NONE { parfor v in sparse f { if key(v) <= @lowest { push f.near v } else { push f.far v } }`
        `swap f f.far; f.near = edge_apply(relax, f.near); parfor v in sparse f.near { push f v }; @lowest = ... }`

Called by `place-exchanges`. A member looks at all that waits in each round, as the near-far method does (Davidson et
al. 2014), so there are no buckets to keep, and devices of every kind have the same code. Keys are those of
`lower-ordered`. Where members have other ideas of the width of a bucket (a part's weights are not those of another) any
order is legal, and whoever has the lowest key goes on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from vgraph.compiler import ir
from vgraph.compiler.passes.exchanges import Mails
from vgraph.compiler.passes.lower_ordered import FARTHEST, bucket_key
from vgraph.compiler.types import I64, VID
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


def in_buckets(low: Placing, n: ir.EdgeApply) -> list[ir.Stmt]:
    """The loop, with what is agreed on in each round."""
    assert n.frontier is not None
    waiting, order = n.frontier, n.chosen.order
    near, far = low.hidden(f"{waiting}.near"), low.hidden(f"{waiting}.far")
    lowest, own = low.counter("lowest"), low.counter("lowest.part")

    def each(frontier: str, *body: ir.Stmt) -> list[ir.Stmt]:
        """What is done for each vertex `v` of a frontier."""
        v = low.fresh("v")
        loop = ir.ParFor("v", ir.SparseMembers(frontier), body)
        return [ir.FrontierConvert(frontier, ir.Layout.SPARSE), ir.rename(loop, {"v": v})]

    def push(frontier: str) -> ir.Stmt:
        return ir.FrontierPush(frontier, ir.Var("v", VID), ir.Layout.SPARSE, dedupe=True)

    def agree() -> list[ir.Stmt]:
        mails = Mails()
        low.fold(mails, lowest, I64, "min", ir.GlobalVar(own, I64), NONE)
        least = each(waiting, ir.ReduceGlobal("min", own, bucket_key(low, n, "v", order)))
        return [ir.SetGlobal(own, NONE), *least, *low.exchange(mails)]

    now = ir.Compare("<=", bucket_key(low, n, "v", order), ir.GlobalVar(lowest, I64))
    inner = replace(n.chosen, order=UNORDERED, deduplicate=True)  # buckets have flags of their own
    apply = ir.with_fields(n, {"frontier": near, "out": near, "schedule": inner})
    low.visits[id(apply)] = low.visits[id(n)]
    body = (
        ir.FrontierClear(near, ir.Layout.SPARSE),
        ir.FrontierClear(far, ir.Layout.SPARSE),
        *each(waiting, ir.If(now, (push(near),), (push(far),))),
        ir.FrontierSwap(waiting, far),
        *low.apply(apply),
        *each(near, push(waiting)),
        *agree(),
    )
    some = ir.Compare("<", ir.GlobalVar(lowest, I64), NONE)
    low.context.notes.append(f"{n.label}: in each round members agree on the lowest bucket that anyone has")
    return [*agree(), ir.While(some, body), *low.sizes(waiting, ir.Const(0, I64))]

"""`deal-blocks`: operators that write both ends of their edges, on a set of devices; a part of `place-exchanges`.

before: `edge_apply(step) schedule(conflict=dealt_blocks(16), ...)` with `f[src] = ...; f[dst] = ...`
after:  `for turn in range(0, 16, 1) {
           parfor src in arcs "dealt_blocks.16" out phases mine to mine.end { for (dst, edge) in out(src) ... }
           parfor v at i in listed set.gone from gone to gone.end { f.to_turns[i - gone] = f[v] }
           all_to_all (f.to_turns) to (f.at_turns) by (turns) turn turn
           parfor v at i in listed set.got from got to got.end { f[v] = f.at_turns[i - got] } }`

Every member has all arcs, and a place for every vertex (`graph/conflicts/dealt.py`). In a turn it takes the phases of
its own blocks, which share no vertex with those of others; then it hands over what it has of vertices that are in
blocks of others next, behind the last turn to everybody. So the result is that of the plan on one device, bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vgraph.compiler import ir
from vgraph.compiler.analysis import placement as part
from vgraph.compiler.passes.exchanges import GHOST, ONE, PLACE, ZERO, Folds, Mails
from vgraph.compiler.passes.lowering import FALSE, TRUE, active_only, count_of
from vgraph.compiler.types import BOOL, I64, VID

if TYPE_CHECKING:
    from vgraph.compiler.passes.place_exchanges import Placing

_SPAN: Final = ("mine", "mine.end", "gone", "gone.end", "got", "got.end")


def deal_blocks(low: Placing, n: ir.EdgeApply, visit: part.Visit) -> list[ir.Stmt]:
    """An apply, turn by turn."""
    key = n.chosen.conflict.key
    ahead, folds, renames = low.parts(visit)
    operator = low.operator(n.op)
    arcs, handed = low.counter(), sorted(visit.stored)
    hit = low.buffer("hit", BOOL, ir.Site.VERTEX) if n.out is not None else ""
    ahead += [ir.SetGlobal(arcs, ZERO), *([ir.Fill(hit, FALSE)] if hit else [])]

    def rule(m: ir.Node) -> ir.Node | tuple[ir.Stmt, ...] | None:
        match m:
            case ir.ReduceGlobal(name=name):
                return ir.with_fields(m, {"name": renames[name]})
            case ir.Store(index=ir.Var(type=t) as end) if hit and t == VID:
                return m, ir.Store(hit, end, TRUE)
        return None

    src, edge, dst = operator.args
    body = (ir.ReduceGlobal("+", arcs, ONE), *ir.transform_body(operator.body, rule))
    walked = ir.ForNeighbors(dst, edge, ir.Var(src, VID), n.leaving, body, planned=True, span=n.span)
    turn, *bounds = (ir.Var(low.fresh(name), I64) for name in ("turn", *_SPAN))
    spans, gone, got = (
        low.given(part.of_turns(what, key), t, ir.Site.ARRAY, ir.Origin.PARAM)
        for what, t in (("spans", I64), ("gone", VID), ("got", VID))
    )
    place = ir.Binary("*", turn, ir.Const(len(_SPAN), I64))
    domain = ir.PlannedArcs(key, n.leaving, *bounds[:2])
    mails = Mails()
    names = [*handed, *([hit] if hit else [])]
    buffers = {p: low.mail(mails, p, BOOL if p == hit else low.type_of(p), "turns") for p in names}
    types = {p: BOOL if p == hit else low.type_of(p) for p in names}
    fill = [ir.Store(out, _from(bounds[2]), ir.Load(p, GHOST, types[p])) for p, (out, _) in buffers.items()]
    take = [ir.Store(p, GHOST, ir.Load(its, _from(bounds[4]), types[p])) for p, (_, its) in buffers.items()]
    outs, gots, ways = zip(*mails.rows, strict=True)
    step = (
        *(
            ir.Let(b.name, I64, ir.Lookup(spans, (ir.Binary("+", place, ir.Const(k, I64)),), ZERO))
            for k, b in enumerate(bounds)
        ),
        ir.ParFor(src, domain, active_only(n, src, (walked,)), n.label, span=n.span),
        *low.listed(gone, fill, tuple(bounds[2:4])),
        ir.AllToAll(outs, gots, ways, turn),
        *low.listed(got, take, tuple(bounds[4:])),
    )
    low.ordered = True
    parts = n.chosen.conflict.rows
    loop = ir.For(turn.name, ZERO, ir.Const(parts, I64), ONE, step)
    low.context.notes.append(
        f"{n.label}: {parts} turns; behind each {', '.join(handed)} of a block's columns go to the member that has them"
        " next, and behind the last what each has to all members"
    )
    near = low.everywhere(n.frontier, n.chosen.volume) if n.frontier is not None else ()
    return [*near, *ahead, loop, *_behind(low, n, arcs, hit, folds)]


def _from(first: ir.Var) -> ir.Expr:
    """A place of a list, counted from one of them."""
    return ir.Binary("-", PLACE, first)


def _behind(low: Placing, n: ir.EdgeApply, arcs: str, hit: str, folds: Folds) -> list[ir.Stmt]:
    """The record of the round, the frontier that it gives, and globals."""
    frontier, mails = n.frontier, Mails()
    folds(mails)
    active: ir.Expr = ir.GraphSize("num_vertices") if frontier is None else ir.FrontierSize(frontier)
    made: list[ir.Stmt] = [] if frontier is None else low.only_owned(frontier)
    made.append(ir.Trace(n.label, "push", active, count_of(arcs), span=n.span))
    if n.out is not None:
        low.size(mails, n.out)
        made += [ir.FrontierWhere(n.out, hit), *low.only_owned(n.out)]
    return [*made, *low.exchange(mails)]

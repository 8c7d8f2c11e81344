"""What an apply becomes on a member of a set of devices; a part of `place-exchanges`.

before: `frontier = edge_apply(relax, frontier)` with `dist[dst] min= ...`
after:  `frontier = edge_apply(relax.part, frontier)`
        `parfor g at i in listed set.ghosts { dist.to_owners[i] = dist[g] }`
        `parfor v at i in listed set.shared { dist[v] min= dist.at_owners[i] -> c; if c { push frontier.kept v } }`

The member's own operator leaves alone what is not its own; what ghosts got goes to their owners.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vgraph.compiler import ir
from vgraph.compiler.analysis import placement as part
from vgraph.compiler.analysis.placement import CLAIM, Visit
from vgraph.compiler.analysis.searches import claims_once
from vgraph.compiler.ir.reductions import identity
from vgraph.compiler.passes.exchanges import GHOST, PLACE, Mails
from vgraph.compiler.passes.lowering import FALSE, TRUE
from vgraph.compiler.types import BOOL, I64, VID
from vgraph.schedule import CHANGED, DENSE, PUSH, show

if TYPE_CHECKING:
    from vgraph.compiler.passes.place_exchanges import Placing

_WHO: Final = {"owners": "owners", "ghosts": "ghosts", "all": "all members"}


def pushes(n: ir.Apply) -> bool:
    """Whether an apply visits the vertices whose arcs leave, or its own alone."""
    return isinstance(n, ir.VertexApply) or n.chosen.direction is PUSH


def own_apply(low: Placing, n: ir.Apply, visit: Visit, renames: dict[str, str]) -> ir.Apply:
    """The apply of the member's own operator."""
    name = low.fresh(f"{n.op}.part")

    def rule(m: ir.Node) -> ir.Node | None:
        return ir.with_fields(m, {"name": renames[m.name]}) if isinstance(m, ir.ReduceGlobal) else None

    operator = ir.with_fields(ir.transform(visit.operator, rule), {"name": name})
    for m in ir.walk(operator):
        if isinstance(m, ir.Load) and m.prop == part.NUMBER:
            low.number_property()
        elif isinstance(m, ir.Load) and m.prop in part.DEGREES.values():
            low.given(m.prop, I64, ir.Site.VERTEX, ir.Origin.GRAPH)
        elif isinstance(m, ir.Var) and m.name in part.SIZES.values():
            low.number(m.name)
    if isinstance(n, ir.VertexApply) and n.frontier is None:
        operator = _guarded(low, operator)
    elif isinstance(n, ir.EdgeApply) and low.whole and (n.frontier is None or not pushes(n)):
        own = ir.Var(operator.args[0 if pushes(n) else 2], VID)  # a ghost has arcs, which others walk
        operator = ir.with_fields(operator, {"body": (ir.If(low.owned(own), operator.body),)})
    low.declare("operators", operator)
    return ir.with_fields(n, {"op": name} | ({"only": None} if isinstance(n, ir.EdgeApply) else {}))


def _guarded(low: Placing, operator: ir.Operator) -> ir.Operator:
    """A vertex operator that does nothing at ghosts."""
    body, emits = operator.body, operator.body[-1] if operator.body else None
    test = low.owned(ir.Var(operator.args[0], VID))
    if not isinstance(emits, ir.Emit):
        return ir.with_fields(operator, {"body": (ir.If(test, body),)})
    name = low.fresh(f"{operator.name}.chosen")
    inside = (*body[:-1], ir.Assign(name, emits.value))
    guard = (
        ir.Let(name, BOOL, FALSE),
        ir.If(test, inside),
        ir.with_fields(emits, {"value": ir.Var(name, BOOL)}),
    )
    return ir.with_fields(operator, {"body": guard})


def to_owners(low: Placing, n: ir.Apply, visit: Visit, mails: Mails, ahead: list[ir.Stmt]) -> list[ir.Stmt]:
    """What near vertices got goes to their owners, and those that it changes enter the frontier; what is done
    before that."""
    if not visit.writes:
        return []
    resets = [
        ir.Store(name, GHOST, identity(op, low.type_of(name)))
        for name, op in visit.writes.items()
        if op in ir.ACCUMULATING or not (name in low.near or op == CLAIM or low.stays_behind(name, op))
    ]
    filling = n.out if isinstance(n, ir.EdgeApply) else None
    marks, at_owners = "", ""
    adds = any(op in ir.ACCUMULATING for op in visit.writes.values())
    again = not claims_once(low.program, low.program.operator(n.op))
    unclaimed = [name for name, op in visit.writes.items() if op == CLAIM and again]
    if filling is not None and (adds or unclaimed):
        marks = low.given("set.touched", BOOL, ir.Site.VERTEX, ir.Origin.LOCAL)
        resets.append(ir.Store(marks, GHOST, FALSE))
        out, at_owners = low.mail(mails, marks, BOOL, "owners")
        mails.out[part.GHOSTS].append(ir.Store(out, PLACE, ir.Load(marks, GHOST, BOOL)))
    ahead += low.listed(part.GHOSTS, resets)
    touched: tuple[ir.Stmt, ...] = (ir.Store(marks, GHOST, TRUE),) if marks else ()
    if n.chosen.volume is not DENSE:
        mails.volume, mails.changed = n.chosen.volume, low.hidden(f"{filling}.ghosts")
        ahead.append(ir.FrontierClear(mails.changed, ir.Layout.SPARSE))
        touched += (ir.FrontierPush(mails.changed, GHOST, ir.Layout.SPARSE, dedupe=True),)
    drop = low.only_owned(filling, touched) if filling is not None else []
    enters: tuple[ir.Stmt, ...] = ()
    if filling is not None:  # `drop` ends with a swap, so the frontier itself takes what comes
        enters = (ir.FrontierPush(filling, GHOST, ir.Layout.SPARSE, dedupe=True),)
    for name, op in visit.writes.items():
        mails.got[part.SHARED] += _taken(low, mails, visit, name, op, enters)
    if marks:
        test: ir.Expr = ir.Load(at_owners, PLACE, BOOL)
        for name in () if adds else unclaimed:  # claimed with what says that it is not yet claimed
            held = ir.Load(name, GHOST, low.type_of(name))
            as_before = ir.Compare("==", held, visit.claims[name].expected)
            mails.got[part.SHARED].append(ir.If(ir.Logical("and", test, as_before), enters))
        if adds:
            mails.got[part.SHARED].append(ir.If(test, enters))
    return drop


def _taken(
    low: Placing, mails: Mails, visit: Visit, name: str, op: str, enters: tuple[ir.Stmt, ...]
) -> list[ir.Stmt]:
    """What an owner does with what a ghost has."""
    got = _to_owner(low, mails, name)
    if op in ir.ACCUMULATING:
        return [ir.Reduce(op, name, GHOST, got)]
    changed = low.fresh("changed")
    begin = ir.Let(changed, BOOL, FALSE)
    if op != CLAIM:
        reduce = ir.Reduce(op, name, GHOST, got, changed=changed)
        return [begin, reduce, *([ir.If(ir.Var(changed, BOOL), enters)] if enters else [])]
    claim = visit.claims[name]
    swap = ir.CompareAndSwap(changed, name, GHOST, claim.expected, got)
    stores = [m for m in ir.walk(claim) if isinstance(m, ir.Store)]
    with_it = tuple(ir.Store(m.prop, GHOST, _to_owner(low, mails, m.prop)) for m in stores)
    won = ir.If(ir.Var(changed, BOOL), (*with_it, *enters))
    return [begin, ir.If(ir.Compare("!=", got, claim.expected), (swap,)), won]


def _to_owner(low: Placing, mails: Mails, name: str) -> ir.Load:
    t = low.type_of(name)
    out, got = low.mail(mails, name, t, "owners")
    mails.out[part.GHOSTS].append(ir.Store(out, PLACE, ir.Load(name, GHOST, t)))
    return ir.Load(got, PLACE, t)


def note(low: Placing, n: ir.Apply, *exchanges: Mails) -> None:
    """What `explain` says of the exchanges behind an apply."""
    label = n.label
    if any(n in forms for forms in low.forms.values()):
        label += f", {show(n.chosen.direction)}"
    rows = dict.fromkeys(row for mails in exchanges for row in mails.rows)
    if not rows:
        low.context.notes.append(
            f"{label}: nothing is exchanged: what members do at their vertices, no other has to know"
        )
        return
    words, sums = [], {"owners": 0, "ghosts": 0, "all": 0}
    for out, _, way in rows:
        sums[way] += low.bytes_of(out)
        words.append(f"{out.removesuffix(f'.to_{way}')} to {_WHO[way]}")
    for mails in {id(m): m for m in exchanges if m.volume is not DENSE and any(m.out.values())}.values():
        sums["all"] += 8  # how many values go to each
        sums["owners"] += low.program.target.bits_of((VID,)) // 8 if mails.volume is CHANGED else 0
    pairs = sums["all"]
    at_most = part.bytes_text(sums["owners"] + sums["ghosts"], pairs)
    low.context.notes.append(f"{label}: after a round {', '.join(words)}; {at_most}")

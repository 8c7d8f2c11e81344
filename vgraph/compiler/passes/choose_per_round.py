"""Part of `lower-applies`: a direction or drive left open becomes both forms, under one test in the driver loop.

before: `f = edge_apply(visit, f) schedule(direction=auto, ...)`
after:  `let pulling = false; while ... { <set pulling>; if pulling { <pull> } else { <push> } }`

The rule is that of Beamer, Asanovic and Patterson 2012 as in the GAP Benchmark Suite: pull when the frontier grows and
its arcs are more than 1/`policy.pull_share` of those not yet walked; push again when it shrinks and has fewer than
1/`policy.push_share` of all vertices. A pull looks at every vertex at least once, so a frontier with fewer arcs than
1/`policy.sweep_share` of the vertices is pushed, too, which matters when hardly an arc is left. The arcs of a frontier
are counted only where, were each of its vertices the largest hub, they would be too many to push: not once on a road
network. All this holds for an apply against the arcs, with in-arcs and out-arcs exchanged.

No pull is taken on a directed graph whose transpose has not been built (`graph.transposed`): to build it costs more
than many searches. There a push walks a queue or a bitmap, whichever fits the frontier. An apply against the arcs needs
the transpose for its pushes, and so asks for nothing.

An operator with a guard (`guards.py`) adds up along all arcs into open vertices, so each round is chosen by itself: a
pull when the frontier's arcs are more than 1/`policy.gather_share` of those not yet walked. A frontier with more arcs
than those shows that the loop visits vertices again; it is pushed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import effects, only_claims, the_claim
from vgraph.compiler.facts import TRANSPOSED
from vgraph.compiler.ir.rewrite import walk, with_fields
from vgraph.compiler.passes.balance_load import lanes_for
from vgraph.compiler.passes.guarded_pull import lower_guarded_pull
from vgraph.compiler.passes.lower_pull import OpenSet, lower_pull
from vgraph.compiler.passes.lower_push import lower_push
from vgraph.compiler.passes.lowering import FALSE, TRUE, Lowering, count_of, scalar
from vgraph.compiler.types import BOOL, I64, VID
from vgraph.schedule import VERTEX, Direction, Drive, FrontierLayout


@dataclass(frozen=True)
class _State:
    """The locals that live from round to round: whether the last round pulled, the arcs not yet walked by a push,
    and how large the last frontier was."""

    pulling: ir.Var
    unexplored: ir.Var
    before: ir.Var


def lower_per_round(low: Lowering, apply: ir.EdgeApply, loop: ir.Body) -> ir.Body:
    """Both forms of `apply`, which stands in a loop with body `loop`, and the choice between them."""
    assert apply.schedule is not None
    target = low.target(apply.out) if apply.out else None
    if target:
        low.mixed.add(target)
    if apply.schedule.direction is Direction.AUTO:
        return _either_direction(low, apply, loop, target)
    return _either_drive(low, apply, target)


def _either_drive(low: Lowering, apply: ir.EdgeApply, target: str | None) -> ir.Body:
    """A push from a bitmap if the frontier is a large part of the graph, else from a queue."""
    assert apply.frontier is not None
    size = ir.Var(low.fresh(f"{apply.label}.active"), I64)
    return ir.Let(size.name, I64, ir.FrontierSize(apply.frontier)), *_pushes(low, apply, target, size)


Counted = Callable[[ir.Expr], ir.Body]
"""What follows on a push, of the number of arcs that it walked."""


def _pushes(
    low: Lowering, apply: ir.EdgeApply, target: str | None, size: ir.Var, after: Counted | None = None
) -> ir.Body:
    """A push from a bitmap if the `size` of the frontier is large, else from a queue."""
    many = ir.Compare(
        ">", ir.Binary("*", size, low.number("policy.queue_share")), ir.GraphSize("num_vertices")
    )
    dense, sparse = (
        _push(low, apply, target, layout, after) for layout in (FrontierLayout.BITMAP, FrontierLayout.SPARSE)
    )
    return (ir.If(many, dense, sparse, span=apply.span),)


def _push(
    low: Lowering, apply: ir.EdgeApply, target: str | None, layout: FrontierLayout, after: Counted | None
) -> ir.Body:
    body = lower_push(low, _as(apply, Direction.PUSH, Drive.DATA, layout), target)
    arcs = next(n.name for n in body if isinstance(n, ir.SetGlobal))
    return body if after is None else (*body, *after(count_of(arcs)))


def _either_direction(low: Lowering, apply: ir.EdgeApply, loop: ir.Body, target: str | None) -> ir.Body:
    """A push or a pull."""
    if not only_claims(low.program.operator(apply.op).body):
        return _behind_guard(low, apply, target)
    state = _State(
        ir.Var(low.fresh(f"{apply.label}.pulling"), BOOL),
        ir.Var(low.fresh(f"{apply.label}.unexplored"), I64),
        ir.Var(low.fresh(f"{apply.label}.before"), I64),
    )
    low.at_loop += [
        ir.Let(state.pulling.name, BOOL, FALSE),
        ir.Let(state.unexplored.name, I64, ir.GraphSize("num_arcs")),
        ir.Let(state.before.name, I64, scalar(0)),
    ]
    opened = _open_set(low, apply, loop)
    pulled = _as(apply, Direction.PULL, Drive.TOPOLOGY, FrontierLayout.BITMAP, cut=low.warps)
    pull = lower_pull(low, pulled, target, opened)
    size = ir.Var(low.fresh(f"{apply.label}.active"), I64)

    def rest(walked: ir.Expr) -> ir.Body:
        return (ir.Assign(state.unexplored.name, ir.Binary("-", state.unexplored, walked)),)

    push = _other_form(low, apply, target, size, rest)
    choice = _choice(low, apply, state, size, opened)
    return (*choice, ir.If(_with_arcs(low, apply, state.pulling), pull, push, span=apply.span))


def _may_lack_arcs(low: Lowering, apply: ir.EdgeApply) -> bool:
    """Whether the arcs that a pull walks may not be there."""
    return low.directed and not apply.reverse


def _with_arcs(low: Lowering, apply: ir.EdgeApply, test: ir.Expr) -> ir.Expr:
    """`test`, and that the arcs which a pull walks are there."""
    return ir.Logical("and", low.number(TRANSPOSED, BOOL), test) if _may_lack_arcs(low, apply) else test


def _other_form(
    low: Lowering, apply: ir.EdgeApply, target: str | None, size: ir.Var, after: Counted
) -> ir.Body:
    """The push beside a pull: from a queue, for large frontiers are pulled; also from a bitmap if they cannot be."""
    if _may_lack_arcs(low, apply):
        return _pushes(low, apply, target, size, after)
    return _push(low, apply, target, FrontierLayout.SPARSE, after)


def _as(
    apply: ir.EdgeApply, direction: Direction, drive: Drive, layout: FrontierLayout, cut: bool = False
) -> ir.EdgeApply:
    """The apply with everything fixed. A pull of a claim leaves its vertex early, so threads of a CPU have nothing to
    cut; a thread of a GPU would take milliseconds for a hub none of whose neighbors is active (`cut`)."""
    assert apply.schedule is not None
    balance = VERTEX if direction is Direction.PULL and not cut else apply.schedule.balance
    fixed = replace(apply.schedule, direction=direction, drive=drive, frontier=layout, balance=balance)
    return with_fields(apply, {"schedule": fixed})


# --- the choice -----------------------------------------------------------------------------------------------


def _choice(
    low: Lowering, apply: ir.EdgeApply, state: _State, size: ir.Var, opened: OpenSet | None
) -> ir.Body:
    """Set `size`, and `pulling` for the round that comes."""
    assert apply.frontier is not None
    few = ir.Compare("<", ir.Binary("*", size, low.number("policy.push_share")), ir.GraphSize("num_vertices"))
    back = ir.If(
        ir.Logical("and", ir.Compare("<", size, state.before), few), (ir.Assign(state.pulling.name, FALSE),)
    )
    limit = ir.Var(low.fresh(f"{apply.label}.limit"), I64)
    most = ir.Binary("*", size, low.number(f"graph.max_{'in_' if apply.reverse else ''}degree"))
    growing = ir.Compare(">", size, state.before)
    share = ir.Binary("//", state.unexplored, low.number("policy.pull_share"))
    sweep = ir.Binary("//", ir.GraphSize("num_vertices"), low.number("policy.sweep_share"))
    forth: ir.Body = (
        ir.Let(limit.name, I64, ir.Binary("max", share, sweep)),
        ir.If(
            _with_arcs(low, apply, ir.Logical("and", growing, ir.Compare(">", most, limit))),
            _count(low, apply, state, limit, opened),
        ),
    )
    return (
        ir.Let(size.name, I64, ir.FrontierSize(apply.frontier)),
        ir.If(state.pulling, (back,), forth, span=apply.span),
        ir.Assign(state.before.name, size),
    )


def _count(
    low: Lowering, apply: ir.EdgeApply, state: _State, limit: ir.Expr, opened: OpenSet | None
) -> ir.Body:
    """Add up the arcs of the frontier, and turn to pulling if they are many."""
    assert apply.frontier is not None
    arcs, v = low.counter(), low.fresh("v")
    add = ir.ReduceGlobal("+", arcs, ir.Degree(ir.Var(v, VID), apply.leaving))
    begin: ir.Body = _begin(low, apply, opened) if opened else ()
    return (
        ir.FrontierConvert(apply.frontier, ir.Layout.SPARSE),
        ir.SetGlobal(arcs, scalar(0)),
        ir.ParFor(v, ir.Layout.SPARSE, apply.frontier, (add,), span=apply.span),
        ir.If(ir.Compare(">", count_of(arcs), limit), (ir.Assign(state.pulling.name, TRUE), *begin)),
    )


# --- behind a guard --------------------------------------------------------------------------------------------


def _behind_guard(low: Lowering, apply: ir.EdgeApply, target: str | None) -> ir.Body:
    """A push, or a pull into the vertices whose guard is open."""
    assert apply.frontier is not None
    unexplored, pulling, size, limit = (
        ir.Var(low.fresh(f"{apply.label}.{name}"), BOOL if name == "pulling" else I64)
        for name in ("unexplored", "pulling", "active", "limit")
    )
    low.at_loop.append(ir.Let(unexplored.name, I64, ir.GraphSize("num_arcs")))

    def rest(walked: ir.Expr) -> ir.Body:
        return (ir.Assign(unexplored.name, ir.Binary("-", unexplored, walked)),)

    push = _other_form(low, apply, target, size, rest)
    pulled = _as(apply, Direction.PULL, Drive.TOPOLOGY, FrontierLayout.BITMAP)
    assert apply.schedule is not None
    balance = apply.schedule.balance
    lanes = lanes_for(balance) if low.warps and balance != VERTEX else ir.Lanes.THREAD
    pull = lower_guarded_pull(low, pulled, target, lanes)
    arcs, v = low.counter(), low.fresh("v")
    add = ir.ReduceGlobal("+", arcs, ir.Degree(ir.Var(v, VID), apply.leaving))
    counted = count_of(arcs)
    fits = ir.Logical("and", ir.Compare(">", counted, limit), ir.Compare("<=", counted, unexplored))
    count: ir.Body = (
        ir.FrontierConvert(apply.frontier, ir.Layout.SPARSE),
        ir.SetGlobal(arcs, scalar(0)),
        ir.ParFor(v, ir.Layout.SPARSE, apply.frontier, (add,), span=apply.span),
        ir.Assign(pulling.name, fits),
    )
    share = ir.Binary("//", unexplored, low.number("policy.gather_share"))
    sweep = ir.Binary("//", ir.GraphSize("num_vertices"), low.number("policy.sweep_share"))
    most = ir.Binary("*", size, low.number(f"graph.max_{'in_' if apply.reverse else ''}degree"))

    return (
        ir.Let(size.name, I64, ir.FrontierSize(apply.frontier)),
        ir.Let(limit.name, I64, ir.Binary("max", share, sweep)),
        ir.Let(pulling.name, BOOL, FALSE),
        ir.If(_with_arcs(low, apply, ir.Compare(">", most, limit)), count),
        ir.If(_with_arcs(low, apply, pulling), (*pull, *rest(counted)), push, span=apply.span),
    )


# --- vertices that are still open ------------------------------------------------------------------------------


def _open_set(low: Lowering, apply: ir.EdgeApply, loop: ir.Body) -> OpenSet | None:
    """Frontiers for the vertices whose claim may still succeed, if nothing else in the loop can reopen one."""
    claim = the_claim(low.program.operator(apply.op).body)
    if not isinstance(claim.expected, ir.Const) or _written_elsewhere(low, apply, claim.prop, loop):
        return None
    names = low.target(f"{apply.label}.open"), low.target(f"{apply.label}.open")
    return OpenSet(*names, claim.prop, claim.expected)


def _written_elsewhere(low: Lowering, apply: ir.EdgeApply, prop: str, loop: ir.Body) -> bool:
    for top in loop:
        for n in walk(top):
            if isinstance(n, ir.Store | ir.Fill) and n.prop == prop:
                return True
            if (
                isinstance(n, ir.EdgeApply | ir.VertexApply)
                and n is not apply
                and prop in effects(low.program.operator(n.op)).written
            ):
                return True
    return False


def _begin(low: Lowering, apply: ir.EdgeApply, opened: OpenSet) -> ir.Body:
    """Collect the vertices with in-arcs whose claim is open."""
    v = low.fresh("v")
    here = ir.Var(v, VID)
    some = ir.Compare(">", ir.Degree(here, apply.entering), scalar(0))
    push: ir.Stmt = ir.FrontierPush(opened.name, here, ir.Layout.BITMAP, True)
    return (
        ir.FrontierClear(opened.name, ir.Layout.BITMAP),
        ir.ParFor(
            v, None, None, (ir.If(ir.Logical("and", opened.is_open(here), some), (push,)),), words=True
        ),
    )

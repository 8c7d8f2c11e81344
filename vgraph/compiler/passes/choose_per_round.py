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

from vgraph.compiler.effects import effects, only_claims, the_claim
from vgraph.compiler.facts import TRANSPOSED
from vgraph.compiler.ir import (
    Assign,
    Binary,
    Body,
    Compare,
    Const,
    Degree,
    EdgeApply,
    Expr,
    Fill,
    FrontierClear,
    FrontierConvert,
    FrontierPush,
    FrontierSize,
    GraphSize,
    If,
    Lanes,
    Layout,
    Let,
    Logical,
    ParFor,
    ReduceGlobal,
    SetGlobal,
    Stmt,
    Store,
    Var,
    VertexApply,
)
from vgraph.compiler.passes.balance_load import lanes_for
from vgraph.compiler.passes.guarded_pull import lower_guarded_pull
from vgraph.compiler.passes.lower_pull import OpenSet, lower_pull
from vgraph.compiler.passes.lower_push import lower_push
from vgraph.compiler.passes.lowering import FALSE, TRUE, Lowering, count_of, scalar
from vgraph.compiler.rewrite import walk, with_fields
from vgraph.compiler.types import BOOL, I64, VID
from vgraph.schedule import VERTEX, Direction, Drive, FrontierLayout


@dataclass(frozen=True)
class _State:
    """The locals that live from round to round: whether the last round pulled, the arcs not yet walked by a push,
    and how large the last frontier was."""

    pulling: Var
    unexplored: Var
    before: Var


def lower_per_round(low: Lowering, apply: EdgeApply, loop: Body) -> Body:
    """Both forms of `apply`, which stands in a loop with body `loop`, and the choice between them."""
    assert apply.schedule is not None
    target = low.target(apply.out) if apply.out else None
    if target:
        low.mixed.add(target)
    if apply.schedule.direction is Direction.AUTO:
        return _either_direction(low, apply, loop, target)
    return _either_drive(low, apply, target)


def _either_drive(low: Lowering, apply: EdgeApply, target: str | None) -> Body:
    """A push from a bitmap if the frontier is a large part of the graph, else from a queue."""
    assert apply.frontier is not None
    size = Var(low.fresh(f"{apply.label}.active"), I64)
    return Let(size.name, I64, FrontierSize(apply.frontier)), *_pushes(low, apply, target, size)


Counted = Callable[[Expr], Body]
"""What follows on a push, of the number of arcs that it walked."""


def _pushes(
    low: Lowering, apply: EdgeApply, target: str | None, size: Var, after: Counted | None = None
) -> Body:
    """A push from a bitmap if the `size` of the frontier is large, else from a queue."""
    many = Compare(">", Binary("*", size, low.number("policy.queue_share")), GraphSize("num_vertices"))
    dense, sparse = (
        _push(low, apply, target, layout, after) for layout in (FrontierLayout.BITMAP, FrontierLayout.SPARSE)
    )
    return (If(many, dense, sparse, span=apply.span),)


def _push(
    low: Lowering, apply: EdgeApply, target: str | None, layout: FrontierLayout, after: Counted | None
) -> Body:
    body = lower_push(low, _as(apply, Direction.PUSH, Drive.DATA, layout), target)
    arcs = next(n.name for n in body if isinstance(n, SetGlobal))
    return body if after is None else (*body, *after(count_of(arcs)))


def _either_direction(low: Lowering, apply: EdgeApply, loop: Body, target: str | None) -> Body:
    """A push or a pull."""
    if not only_claims(low.program.operator(apply.op).body):
        return _behind_guard(low, apply, target)
    state = _State(
        Var(low.fresh(f"{apply.label}.pulling"), BOOL),
        Var(low.fresh(f"{apply.label}.unexplored"), I64),
        Var(low.fresh(f"{apply.label}.before"), I64),
    )
    low.at_loop += [
        Let(state.pulling.name, BOOL, FALSE),
        Let(state.unexplored.name, I64, GraphSize("num_arcs")),
        Let(state.before.name, I64, scalar(0)),
    ]
    opened = _open_set(low, apply, loop)
    pulled = _as(apply, Direction.PULL, Drive.TOPOLOGY, FrontierLayout.BITMAP, cut=low.warps)
    pull = lower_pull(low, pulled, target, opened)
    size = Var(low.fresh(f"{apply.label}.active"), I64)

    def rest(walked: Expr) -> Body:
        return (Assign(state.unexplored.name, Binary("-", state.unexplored, walked)),)

    push = _other_form(low, apply, target, size, rest)
    choice = _choice(low, apply, state, size, opened)
    return (*choice, If(_with_arcs(low, apply, state.pulling), pull, push, span=apply.span))


def _may_lack_arcs(low: Lowering, apply: EdgeApply) -> bool:
    """Whether the arcs that a pull walks may not be there."""
    return low.directed and not apply.reverse


def _with_arcs(low: Lowering, apply: EdgeApply, test: Expr) -> Expr:
    """`test`, and that the arcs which a pull walks are there."""
    return Logical("and", low.number(TRANSPOSED, BOOL), test) if _may_lack_arcs(low, apply) else test


def _other_form(low: Lowering, apply: EdgeApply, target: str | None, size: Var, after: Counted) -> Body:
    """The push beside a pull: from a queue, for large frontiers are pulled; also from a bitmap if they cannot be."""
    if _may_lack_arcs(low, apply):
        return _pushes(low, apply, target, size, after)
    return _push(low, apply, target, FrontierLayout.SPARSE, after)


def _as(
    apply: EdgeApply, direction: Direction, drive: Drive, layout: FrontierLayout, cut: bool = False
) -> EdgeApply:
    """The apply with everything fixed. A pull of a claim leaves its vertex early, so threads of a CPU have nothing to
    cut; a thread of a GPU would take milliseconds for a hub none of whose neighbors is active (`cut`)."""
    assert apply.schedule is not None
    balance = VERTEX if direction is Direction.PULL and not cut else apply.schedule.balance
    fixed = replace(apply.schedule, direction=direction, drive=drive, frontier=layout, balance=balance)
    return with_fields(apply, {"schedule": fixed})


# --- the choice -----------------------------------------------------------------------------------------------


def _choice(low: Lowering, apply: EdgeApply, state: _State, size: Var, opened: OpenSet | None) -> Body:
    """Set `size`, and `pulling` for the round that comes."""
    assert apply.frontier is not None
    few = Compare("<", Binary("*", size, low.number("policy.push_share")), GraphSize("num_vertices"))
    back = If(Logical("and", Compare("<", size, state.before), few), (Assign(state.pulling.name, FALSE),))
    limit = Var(low.fresh(f"{apply.label}.limit"), I64)
    most = Binary("*", size, low.number(f"graph.max_{'in_' if apply.reverse else ''}degree"))
    growing = Compare(">", size, state.before)
    share = Binary("//", state.unexplored, low.number("policy.pull_share"))
    sweep = Binary("//", GraphSize("num_vertices"), low.number("policy.sweep_share"))
    forth: Body = (
        Let(limit.name, I64, Binary("max", share, sweep)),
        If(
            _with_arcs(low, apply, Logical("and", growing, Compare(">", most, limit))),
            _count(low, apply, state, limit, opened),
        ),
    )
    return (
        Let(size.name, I64, FrontierSize(apply.frontier)),
        If(state.pulling, (back,), forth, span=apply.span),
        Assign(state.before.name, size),
    )


def _count(low: Lowering, apply: EdgeApply, state: _State, limit: Expr, opened: OpenSet | None) -> Body:
    """Add up the arcs of the frontier, and turn to pulling if they are many."""
    assert apply.frontier is not None
    arcs, v = low.counter(), low.fresh("v")
    add = ReduceGlobal("+", arcs, Degree(Var(v, VID), apply.leaving))
    begin: Body = _begin(low, apply, opened) if opened else ()
    return (
        FrontierConvert(apply.frontier, Layout.SPARSE),
        SetGlobal(arcs, scalar(0)),
        ParFor(v, Layout.SPARSE, apply.frontier, (add,), span=apply.span),
        If(Compare(">", count_of(arcs), limit), (Assign(state.pulling.name, TRUE), *begin)),
    )


# --- behind a guard --------------------------------------------------------------------------------------------


def _behind_guard(low: Lowering, apply: EdgeApply, target: str | None) -> Body:
    """A push, or a pull into the vertices whose guard is open."""
    assert apply.frontier is not None
    unexplored, pulling, size, limit = (
        Var(low.fresh(f"{apply.label}.{name}"), BOOL if name == "pulling" else I64)
        for name in ("unexplored", "pulling", "active", "limit")
    )
    low.at_loop.append(Let(unexplored.name, I64, GraphSize("num_arcs")))

    def rest(walked: Expr) -> Body:
        return (Assign(unexplored.name, Binary("-", unexplored, walked)),)

    push = _other_form(low, apply, target, size, rest)
    pulled = _as(apply, Direction.PULL, Drive.TOPOLOGY, FrontierLayout.BITMAP)
    assert apply.schedule is not None
    balance = apply.schedule.balance
    lanes = lanes_for(balance) if low.warps and balance != VERTEX else Lanes.THREAD
    pull = lower_guarded_pull(low, pulled, target, lanes)
    arcs, v = low.counter(), low.fresh("v")
    add = ReduceGlobal("+", arcs, Degree(Var(v, VID), apply.leaving))
    counted = count_of(arcs)
    fits = Logical("and", Compare(">", counted, limit), Compare("<=", counted, unexplored))
    count: Body = (
        FrontierConvert(apply.frontier, Layout.SPARSE),
        SetGlobal(arcs, scalar(0)),
        ParFor(v, Layout.SPARSE, apply.frontier, (add,), span=apply.span),
        Assign(pulling.name, fits),
    )
    share = Binary("//", unexplored, low.number("policy.gather_share"))
    sweep = Binary("//", GraphSize("num_vertices"), low.number("policy.sweep_share"))
    most = Binary("*", size, low.number(f"graph.max_{'in_' if apply.reverse else ''}degree"))

    return (
        Let(size.name, I64, FrontierSize(apply.frontier)),
        Let(limit.name, I64, Binary("max", share, sweep)),
        Let(pulling.name, BOOL, FALSE),
        If(_with_arcs(low, apply, Compare(">", most, limit)), count),
        If(_with_arcs(low, apply, pulling), (*pull, *rest(counted)), push, span=apply.span),
    )


# --- vertices that are still open ------------------------------------------------------------------------------


def _open_set(low: Lowering, apply: EdgeApply, loop: Body) -> OpenSet | None:
    """Frontiers for the vertices whose claim may still succeed, if nothing else in the loop can reopen one."""
    claim = the_claim(low.program.operator(apply.op).body)
    if not isinstance(claim.expected, Const) or _written_elsewhere(low, apply, claim.prop, loop):
        return None
    names = low.target(f"{apply.label}.open"), low.target(f"{apply.label}.open")
    return OpenSet(*names, claim.prop, claim.expected)


def _written_elsewhere(low: Lowering, apply: EdgeApply, prop: str, loop: Body) -> bool:
    for top in loop:
        for n in walk(top):
            if isinstance(n, Store | Fill) and n.prop == prop:
                return True
            if (
                isinstance(n, EdgeApply | VertexApply)
                and n is not apply
                and prop in effects(low.program.operator(n.op)).written
            ):
                return True
    return False


def _begin(low: Lowering, apply: EdgeApply, opened: OpenSet) -> Body:
    """Collect the vertices with in-arcs whose claim is open."""
    v = low.fresh("v")
    here = Var(v, VID)
    some = Compare(">", Degree(here, apply.entering), scalar(0))
    push: Stmt = FrontierPush(opened.name, here, Layout.BITMAP, True)
    return (
        FrontierClear(opened.name, Layout.BITMAP),
        ParFor(v, None, None, (If(Logical("and", opened.is_open(here), some), (push,)),), words=True),
    )

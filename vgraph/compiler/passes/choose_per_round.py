"""`choose-per-round`: a direction or drive left open becomes both forms, under one test in the driver loop.

before: `while ... { f = edge_apply(visit, f) schedule(direction=auto, ...) }`
after:  `let pulling = false; while ... { <set pulling>;
         if pulling { f = edge_apply(visit, f) schedule(direction=pull, ...) into f.next counting arcs among open ... }
         else { f = edge_apply(visit, f) schedule(direction=push, ...) into f.next counting arcs.1 } }`

The rule is that of Beamer, Asanovic and Patterson 2012 as in the GAP Benchmark Suite: pull when the frontier grows and
its arcs are more than 1/`policy.pull_share` of those not yet walked; push again when it shrinks and has fewer than
1/`policy.push_share` of all vertices; what pulls have left open is counted then, which GAP does not. A pull looks at
every vertex at least once, so a frontier with fewer arcs than `policy.pushed_arcs` is pushed, too; and one with fewer
than `policy.pulled_arcs` unless hardly any others are left. The arcs of a frontier are counted only where, were each of
its vertices the largest hub, they would be too many to push: not once on a road network. All this holds for an apply
against the arcs, with in-arcs and out-arcs exchanged.

No pull is taken on a directed graph whose transpose has not been built (`graph.transposed`): to build it costs more
than many searches. There a push walks a queue or a bitmap, whichever fits the frontier. An apply against the arcs needs
the transpose for its pushes, and so asks for nothing.

An operator with a guard (`analysis/guards.py`) adds up along all arcs into open vertices, so each round is chosen by
itself: a pull when the frontier's arcs are more than 1/`policy.gather_share` of those not yet walked. A frontier with
more arcs than those shows that the loop visits vertices again; it is pushed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import effects, only_claims, the_claim
from vgraph.compiler.facts import TRANSPOSED
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.passes.cut_loops import is_cut
from vgraph.compiler.passes.lowering import FALSE, TRUE, Lowering, count_of, scalar
from vgraph.compiler.passes.pulls import open_at
from vgraph.compiler.types import BOOL, I64, VID
from vgraph.records import dataclass
from vgraph.schedule import VERTEX, Direction, Drive, FrontierLayout

NEARLY_ALL: Final = 4
"""All but the n-th part."""


@dataclass(frozen=True)
class _State:
    """The locals that live from round to round: whether the last round pulled, the arcs not yet walked by a push,
    and how large the last frontier was."""

    pulling: ir.Var
    unexplored: ir.Var
    before: ir.Var


Both = tuple[ir.Body, ir.Body]
"""What has to stand before the loop that the apply is in, and what takes the place of the apply."""


def _both(low: Lowering, apply: ir.EdgeApply, loop: ir.Body) -> Both:
    """Both forms of `apply`, which stands in a loop with body `loop`, and the choice between them."""
    form = ir.with_fields(apply, {"into": low.target(apply)})
    if apply.chosen.direction is not Direction.AUTO:
        return (), _either_drive(low, form)
    if only_claims(low.program.operator(apply.op).body):
        return _either_direction(low, form, closed=_stays_closed(low, apply, loop))
    return _behind_guard(low, form)


def _either_drive(low: Lowering, apply: ir.EdgeApply) -> ir.Body:
    """A push from a bitmap if the frontier is a large part of the graph, else from a queue."""
    assert apply.frontier is not None
    size = ir.Var(low.fresh(f"{apply.label}.active"), I64)
    return ir.Let(size.name, I64, ir.FrontierSize(apply.frontier)), *_pushes(low, apply, size)


Counted = Callable[[ir.Expr], ir.Body]
"""What follows on a push, of the number of arcs that it walked."""


def _pushes(low: Lowering, apply: ir.EdgeApply, size: ir.Var, after: Counted | None = None) -> ir.Body:
    """A push from a bitmap if the `size` of the frontier is large, else from a queue."""
    many = ir.Compare(
        ">", ir.Binary("*", size, low.number("policy.queue_share")), ir.GraphSize("num_vertices")
    )
    dense, sparse = (
        _push(low, apply, layout, after) for layout in (FrontierLayout.BITMAP, FrontierLayout.SPARSE)
    )
    return (ir.If(many, dense, sparse, span=apply.span),)


def _push(
    low: Lowering, apply: ir.EdgeApply, layout: FrontierLayout, after: Counted | None = None
) -> ir.Body:
    fixed = _as(low, apply, Direction.PUSH, Drive.DATA, layout)
    assert fixed.counting is not None
    return (fixed,) if after is None else (fixed, *after(count_of(fixed.counting)))


def _either_direction(low: Lowering, apply: ir.EdgeApply, *, closed: bool) -> Both:
    """A push or a pull; `closed`: a vertex that has been claimed need not be visited again."""
    state = _State(
        ir.Var(low.fresh(f"{apply.label}.pulling"), BOOL),
        ir.Var(low.fresh(f"{apply.label}.unexplored"), I64),
        ir.Var(low.fresh(f"{apply.label}.before"), I64),
    )
    first: ir.Body = (
        ir.Let(state.pulling.name, BOOL, FALSE),
        ir.Let(state.unexplored.name, I64, ir.GraphSize("num_arcs")),
        ir.Let(state.before.name, I64, scalar(0)),
    )
    pull = _as(low, apply, Direction.PULL, Drive.TOPOLOGY, FrontierLayout.BITMAP, cut=closed)
    if closed and not (_looks_itself(pull) and low.context.abilities.warps):
        opened = [low.hidden(f"{apply.label}.open.next") for _ in range(2)]
        pull = ir.with_fields(pull, {"among": opened[0], "keeping": opened[1]})
    size = ir.Var(low.fresh(f"{apply.label}.active"), I64)

    def rest(walked: ir.Expr) -> ir.Body:
        return (ir.Assign(state.unexplored.name, ir.Binary("-", state.unexplored, walked)),)

    push = _other_form(low, apply, size, rest)
    choice = _choice(low, pull, state, size)
    return first, (*choice, ir.If(_with_arcs(low, apply, state.pulling), (pull,), push, span=apply.span))


def _looks_itself(pull: ir.EdgeApply) -> bool:
    """Whether the loop looks at all vertices first, 32 at a time, for those that are open: no set of them pays."""
    return pull.schedule is not None and pull.schedule.balance.kind == "split"


def _may_lack_arcs(low: Lowering, apply: ir.EdgeApply) -> bool:
    """Whether the arcs that a pull walks may not be there."""
    return low.context.facts.directed and not apply.reverse


def _with_arcs(low: Lowering, apply: ir.EdgeApply, test: ir.Expr) -> ir.Expr:
    """`test`, and that the arcs which a pull walks are there."""
    return ir.Logical("and", low.number(TRANSPOSED, BOOL), test) if _may_lack_arcs(low, apply) else test


def _other_form(low: Lowering, apply: ir.EdgeApply, size: ir.Var, after: Counted) -> ir.Body:
    """The push beside a pull: from a queue, for large frontiers are pulled; also from a bitmap if they cannot be."""
    if _may_lack_arcs(low, apply):
        return _pushes(low, apply, size, after)
    return _push(low, apply, FrontierLayout.SPARSE, after)


def _as(
    low: Lowering,
    apply: ir.EdgeApply,
    direction: Direction,
    drive: Drive,
    layout: FrontierLayout,
    *,
    cut: bool = False,
) -> ir.EdgeApply:
    """The apply with everything fixed. On CPUs a pull is `cut` where it looks at what is open alone, and only in its
    long rows; a thread of a GPU would take milliseconds for a hub none of whose neighbors is active."""
    cut = cut or direction is Direction.PUSH or low.context.abilities.warps
    balance = apply.chosen.balance if cut else VERTEX
    fixed = replace(apply.chosen, direction=direction, drive=drive, frontier=layout, balance=balance)
    return ir.with_fields(apply, {"schedule": fixed, "counting": low.counter()})


# --- the choice -----------------------------------------------------------------------------------------------


def _choice(low: Lowering, apply: ir.EdgeApply, state: _State, size: ir.Var) -> ir.Body:
    """Set `size`, and `pulling` for the round that comes, in which `apply` is the pull."""
    assert apply.frontier is not None
    few = ir.Compare("<", ir.Binary("*", size, low.number("policy.push_share")), ir.GraphSize("num_vertices"))
    back = ir.If(
        _with_arcs(low, apply, ir.Logical("and", ir.Compare("<", size, state.before), few)),
        (ir.Assign(state.pulling.name, FALSE), *_left(low, apply, state)),
    )
    limit = ir.Var(low.fresh(f"{apply.label}.limit"), I64)
    most = ir.Binary("*", size, low.number(f"graph.max_{'in_' if apply.reverse else ''}degree"))
    growing = ir.Compare(">", size, state.before)
    forth: ir.Body = (
        ir.Let(limit.name, I64, _most_pushed(low, state.unexplored, "policy.pull_share")),
        ir.If(
            _with_arcs(low, apply, ir.Logical("and", growing, ir.Compare(">", most, limit))),
            _count(low, apply, state, limit),
        ),
    )
    return (
        ir.Let(size.name, I64, ir.FrontierSize(apply.frontier)),
        ir.If(state.pulling, (back,), forth, span=apply.span),
        ir.Assign(state.before.name, size),
    )


def _left(low: Lowering, apply: ir.EdgeApply, state: _State) -> ir.Body:
    """Behind pulls, add up the arcs into vertices that are open still: nobody has counted those of what they closed."""
    if apply.among is None:
        return ()
    arcs, v = low.counter(), low.fresh("v")
    here = ir.Var(v, VID)
    add: ir.Stmt = ir.ReduceGlobal("+", arcs, ir.Degree(here, apply.entering))
    if is_cut(apply):  # long rows stay when they have been closed
        add = ir.If(open_at(the_claim(low.program.operator(apply.op).body), here), (add,))
    return (
        ir.SetGlobal(arcs, scalar(0)),
        ir.ParFor(v, ir.BitmapMembers(apply.among), (add,), span=apply.span),
        ir.Assign(state.unexplored.name, count_of(arcs)),
    )


def _most_pushed(low: Lowering, unexplored: ir.Expr, share: str) -> ir.Expr:
    """The number of arcs up to which a frontier is pushed."""
    nearly_all = ir.Binary("-", unexplored, ir.Binary("//", unexplored, scalar(NEARLY_ALL)))
    few = ir.Binary("min", low.number("policy.pulled_arcs"), nearly_all)
    least = ir.Binary("max", low.number("policy.pushed_arcs"), few)
    return ir.Binary("max", ir.Binary("//", unexplored, low.number(share)), least)


def _count(low: Lowering, apply: ir.EdgeApply, state: _State, limit: ir.Expr) -> ir.Body:
    """Add up the arcs of the frontier, and turn to pulling if they are many."""
    assert apply.frontier is not None
    arcs, v = low.counter(), low.fresh("v")
    add = ir.ReduceGlobal("+", arcs, ir.Degree(ir.Var(v, VID), apply.leaving))
    begin: ir.Body = _begin(low, apply) if apply.among else ()
    return (
        ir.FrontierConvert(apply.frontier, ir.Layout.SPARSE),
        ir.SetGlobal(arcs, scalar(0)),
        ir.ParFor(v, ir.SparseMembers(apply.frontier), (add,), span=apply.span),
        ir.If(ir.Compare(">", count_of(arcs), limit), (ir.Assign(state.pulling.name, TRUE), *begin)),
    )


# --- behind a guard --------------------------------------------------------------------------------------------


def _behind_guard(low: Lowering, apply: ir.EdgeApply) -> Both:
    """A push, or a pull into the vertices whose guard is open."""
    assert apply.frontier is not None
    unexplored, pulling, size, limit = (
        ir.Var(low.fresh(f"{apply.label}.{name}"), BOOL if name == "pulling" else I64)
        for name in ("unexplored", "pulling", "active", "limit")
    )
    first = ir.Let(unexplored.name, I64, ir.GraphSize("num_arcs"))

    def rest(walked: ir.Expr) -> ir.Body:
        return (ir.Assign(unexplored.name, ir.Binary("-", unexplored, walked)),)

    push = _other_form(low, apply, size, rest)
    pull = _as(low, apply, Direction.PULL, Drive.TOPOLOGY, FrontierLayout.BITMAP)
    pull = ir.with_fields(pull, {"among": low.hidden(f"{apply.label}.open.next")})
    arcs, v = low.counter(), low.fresh("v")
    add = ir.ReduceGlobal("+", arcs, ir.Degree(ir.Var(v, VID), apply.leaving))
    counted = count_of(arcs)
    fits = ir.Logical("and", ir.Compare(">", counted, limit), ir.Compare("<=", counted, unexplored))
    count: ir.Body = (
        ir.FrontierConvert(apply.frontier, ir.Layout.SPARSE),
        ir.SetGlobal(arcs, scalar(0)),
        ir.ParFor(v, ir.SparseMembers(apply.frontier), (add,), span=apply.span),
        ir.Assign(pulling.name, fits),
    )
    most = ir.Binary("*", size, low.number(f"graph.max_{'in_' if apply.reverse else ''}degree"))
    return (first,), (
        ir.Let(size.name, I64, ir.FrontierSize(apply.frontier)),
        ir.Let(limit.name, I64, _most_pushed(low, unexplored, "policy.gather_share")),
        ir.Let(pulling.name, BOOL, FALSE),
        ir.If(_with_arcs(low, apply, ir.Compare(">", most, limit)), count),
        ir.If(_with_arcs(low, apply, pulling), (pull, *rest(counted)), push, span=apply.span),
    )


# --- vertices that are still open ------------------------------------------------------------------------------


def _stays_closed(low: Lowering, apply: ir.EdgeApply, loop: ir.Body) -> bool:
    """Whether nothing else in the loop can reopen a vertex whose claim has succeeded."""
    claim = the_claim(low.program.operator(apply.op).body)
    return isinstance(claim.expected, ir.Const) and not _written_elsewhere(low, apply, claim.prop, loop)


_WRITES = (ir.Store, ir.Fill, ir.Reduce, ir.CompareAndSwap)


def _written_elsewhere(low: Lowering, apply: ir.EdgeApply, prop: str, loop: ir.Body) -> bool:
    for top in loop:
        for n in ir.walk(top):
            if isinstance(n, _WRITES) and n.prop == prop:
                return True
            if (
                isinstance(n, ir.Apply)
                and n is not apply
                and prop in effects(low.program.operator(n.op)).written
            ):
                return True
    return False


def _begin(low: Lowering, apply: ir.EdgeApply) -> ir.Body:
    """Collect the vertices with in-arcs whose claim is open."""
    assert apply.among is not None
    v = low.fresh("v")
    here = ir.Var(v, VID)
    some = ir.Compare(">", ir.Degree(here, apply.entering), scalar(0))
    still = open_at(the_claim(low.program.operator(apply.op).body), here)
    push: ir.Stmt = ir.FrontierPush(apply.among, here, ir.Layout.BITMAP, True)
    return (
        ir.FrontierClear(apply.among, ir.Layout.BITMAP),
        ir.ParFor(v, ir.VertexWords(), (ir.If(ir.Logical("and", still, some), (push,)),)),
    )


# --- the pass --------------------------------------------------------------------------------------------------


def _is_open(n: ir.Stmt) -> bool:
    return isinstance(n, ir.EdgeApply) and n.schedule is not None and n.schedule.drive is Drive.AUTO


def _run(program: ir.Program, context: Context) -> ir.Program:
    if not any(map(_is_open, ir.driver(program.body))):
        return program
    low = Lowering(program, context)

    def chosen(loop: ir.Body) -> Both:
        """What has to stand before a loop, and its body; inner loops have been seen to."""
        first: list[ir.Stmt] = []

        def rule(n: ir.Stmt) -> ir.Body | None:
            if not (isinstance(n, ir.EdgeApply) and _is_open(n)):
                return None
            before, body = _both(low, n, loop)
            first.extend(before)
            return body

        body = ir.transform_driver(loop, rule)
        return tuple(first), body

    def rule(n: ir.Stmt) -> ir.Body | None:
        if not (isinstance(n, ir.While | ir.For) and any(map(_is_open, ir.driver(n.body)))):
            return None
        first, body = chosen(n.body)
        return (*first, ir.with_fields(n, {"body": body}))

    first, body = chosen(ir.transform_driver(program.body, rule))
    return low.finished((*first, *body))


choose_per_round = Pass("choose-per-round", _run, takes=ir.Level.SCHEDULED, gives=ir.Level.SCHEDULED)

"""`claim-rounds`: where every step of a search adds the same number, who comes first comes nearest, so it claims.

before: `fill dist = inf; dist[source] = 0.0; f = single(source); while size(f) > 0 { f = edge_apply(relax, f) }`, with
        `dist[dst] min= dist[src] + 1.0`
after:  `...; @near = 0.0; while size(f) > 0 { @near = @near + 1.0; f = edge_apply(relax.claim, f) }`, with
        `claim dist[dst] from inf with @near`

All of a frontier hold the same number, and what was reached before holds less: by induction over the rounds no minimum
changes what is not infinite. A claim needs no second in-arc, so vertices that are not reached can look for one.
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import is_round_loop
from vgraph.compiler.analysis.searches import infinite
from vgraph.compiler.axes.base import Traversal
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.passes.lowering import Lowering
from vgraph.compiler.types import F32, F64, I32, I64, U32, U64, Scalar, Type
from vgraph.errors import ScheduleError
from vgraph.records import dataclass

MOST: dict[Type, float] = {F32: 1e18, F64: 1e280, I64: 2**15, U64: 2**15, I32: 1, U32: 1}
"""Starts and steps of at most this do not come to the largest number of a wide type: each round claims a vertex, and
memory has room for fewer than 2**47. In a narrow one the search ends there, as minima do.
"""


@dataclass(frozen=True)
class _Steps:
    """A search: its loop and apply, the property that it lowers, of type `t`, where that begins, and how it grows."""

    loop: ir.While
    apply: ir.EdgeApply
    prop: str
    t: Scalar
    frontier: str
    start: ir.Const
    step: ir.Const


def _found(program: ir.Program, before: ir.Body, loop: ir.Stmt) -> _Steps | None:
    """The search that a loop is, with what stands before it."""
    if not isinstance(loop, ir.While):
        return None
    apply = loop.body[0]
    if len(loop.body) > 1 or not (isinstance(apply, ir.EdgeApply) and is_round_loop(loop, apply)):
        return None
    operator = program.operator(apply.op)
    src, _, dst = operator.args
    match operator.body:
        case (
            ir.Reduce(
                op="min",
                prop=prop,
                index=ir.Var(name=to),
                value=ir.Binary("+", ir.Load(prop=same, index=ir.Var(name=origin)), ir.Const() as step),
            ),
        ) if (to, origin, same) == (dst, src, prop):
            t, start = program.property(prop).type, _start(before, apply.frontier, prop)
            if (
                isinstance(t, Scalar)
                and start is not None
                and 0 <= start.value <= MOST.get(t, -1) >= step.value > 0
            ):
                assert apply.frontier is not None
                return _Steps(loop, apply, prop, t, apply.frontier, start, step)
    return None


def _start(before: ir.Body, frontier: str | None, prop: str) -> ir.Const | None:
    """The number of the one vertex that the frontier has, where all others are infinite; None if that is not so."""
    source: ir.Expr | None = None
    marked: ir.Store | None = None
    for stmt in reversed(before):
        match stmt:
            case ir.FrontierSet(out=out, vertex=ir.Expr() as vertex) if out == frontier and source is None:
                source = vertex
            case ir.Store(prop=name) if name == prop and source is not None and marked is None:
                marked = stmt
            case ir.Fill(prop=name, value=ir.Const() as fill) if name == prop and marked is not None:
                whole = fill.value == infinite(fill.type)
                there = marked.index == source and all(isinstance(n, _FIXED) for n in ir.walk(marked.index))
                return marked.value if whole and there and isinstance(marked.value, ir.Const) else None
            case ir.Fill(prop=name) | ir.Store(prop=name) if name != prop:
                pass
            case ir.SetGlobal() | ir.If(then=(ir.Fail(),), other=()):
                pass
            case _:
                return None
    return None


_FIXED = (ir.Var, ir.Const, ir.Cast)
"""What is the same in two statements that nothing but fills, stores and globals that are set stands between."""


def _claiming(low: Lowering, found: _Steps) -> ir.Body:
    """The loop that claims."""
    near = low.fresh(f"{found.prop}.near")
    reached = ir.GlobalVar(near, found.t)
    operator = low.program.operator(found.apply.op)
    (update,) = operator.body
    assert isinstance(update, ir.Reduce)
    far = ir.Const(infinite(found.t), found.t, span=update.span)
    claim = ir.Claim(found.prop, update.index, far, reached, (), span=update.span)
    name = low.fresh(f"{operator.name}.claim")
    low.declare("globals", ir.Global(near, found.t))
    low.declare("operators", ir.with_fields(operator, {"name": name, "body": (claim,)}))
    further = ir.SetGlobal(near, ir.Binary("+", reached, found.step))
    ends: ir.Body = ()
    if found.t in (I32, U32):
        nothing = ir.FrontierSet(found.frontier, ir.FrontierKind.EMPTY)
        ends = (ir.If(ir.Compare("==", reached, far), (nothing,)),)
    body = (further, *ends, ir.with_fields(found.apply, {"op": name}))
    return ir.SetGlobal(near, found.start), ir.with_fields(found.loop, {"body": body})


def _agrees(program: ir.Program, label: str, context: Context) -> bool:
    """Whether claims may be made as the schedule asks: an order by priority, say, is one of minima."""
    options = context.schedule.labels.get(label)
    if options is None:
        return True
    try:
        for n in ir.walk(program):
            if isinstance(n, ir.EdgeApply) and n.label == label:
                Traversal(program, n, context).resolve(options)
    except ScheduleError:
        return False
    return True


def _run(program: ir.Program, context: Context) -> ir.Program:
    searches = (
        found
        for body in ir.bodies(program.body)
        for k, stmt in enumerate(body)
        if (found := _found(program, body[:k], stmt)) is not None
    )
    for found in searches:
        low = Lowering(program, context)
        made = low.finished(_with(program.body, found.loop, _claiming(low, found)))
        if _agrees(made, found.apply.label, context):
            return _run(made, context)
    return program


def _with(body: ir.Body, loop: ir.While, made: ir.Body) -> ir.Body:
    return ir.transform_driver(body, lambda n: made if n is loop else None)


claim_rounds = Pass("claim-rounds", _run, takes=ir.Level.ALGORITHM, gives=ir.Level.ALGORITHM)

"""`count-hops`: a search out of the order of rounds finds how far each vertex is first, and claims them behind that.

before: `while size(f) > 0 { @depth = @depth + 1; f = edge_apply(visit, f) schedule(hops=8, ...) }`, with
        `claim level[dst] from -1 with cast<i32>(@depth) { parent[dst] = src }`
after:  `fill hop[v] = select(level[v] == -1, most, 0); hop[source] = 1;
         while size(f) > 0 { f = edge_apply(visit.hop, f) schedule(hops=8, ...) }`, with `hop[dst] min= hop[src] + 1`;
        `edge_apply(visit.claim)`, which claims along arcs with `hop[dst] == hop[src] + 1`; `@depth = @depth + rounds`
"""

from __future__ import annotations

from dataclasses import replace

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import WriteClass, effects, is_round_loop
from vgraph.compiler.analysis.searches import Search, search
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.passes.lowering import Lowering, scalar
from vgraph.compiler.types import I64, U32, U64, VID, Scalar, limits
from vgraph.schedule import BSP, TOPOLOGY, UNORDERED, ApplySchedule


def _searched(low: Lowering, loop: ir.While, apply: ir.EdgeApply, found: Search) -> ir.Body:
    """What takes the place of the loop."""
    t = U32 if low.program.target.id_bits == 32 else U64  # more rounds than vertices there are none
    most = ir.Const(limits(t)[1], t)
    hop = low.buffer(f"{apply.label}.hop", t, ir.Site.VERTEX)
    last, v = low.counter("rounds"), low.fresh("v")
    reach, claim = _reach(low, apply, hop, t), _claim(low, apply, found, hop, t)
    here = ir.Var(v, VID)
    held = ir.Load(found.claim.prop, here, found.claim.value.type)
    opened = _at(found.claim.expected, low.program.operator(apply.op).args[2], v)
    far = ir.Load(hop, here, t)
    dense = replace(
        apply.chosen, drive=TOPOLOGY, sync=BSP, deduplicate=False, hops=1, tiles=0, order=UNORDERED
    )
    counters = {**found.before, **found.behind}
    return (
        ir.FillEach(hop, v, ir.Select(ir.Compare("==", held, opened), most, ir.Const(0, t))),
        ir.Store(hop, found.source, ir.Const(1, t)),
        ir.with_fields(loop, {"body": (ir.with_fields(apply, {"op": reach}),)}),
        ir.SetGlobal(last, scalar(0)),
        ir.ParFor(
            v,
            ir.Vertices(),
            (ir.If(ir.Compare("!=", far, most), (ir.ReduceGlobal("max", last, ir.Cast(I64, far)),)),),
        ),
        ir.with_fields(apply, {"op": claim, "frontier": None, "out": None, "schedule": dense}),
        *(
            ir.SetGlobal(
                g.name, _after(ir.GlobalVar(g.name, g.type), counters[g.name], ir.GlobalVar(last, I64))
            )
            for g in low.program.globals
            if g.name in counters
        ),
    )


def _at(e: ir.Expr, name: str, v: str) -> ir.Expr:
    """An expression of the vertex `name` as one of v."""
    return ir.transform(e, lambda n: ir.Var(v, VID) if isinstance(n, ir.Var) and n.name == name else None)


def _after(start: ir.Expr, by: int, rounds: ir.Expr) -> ir.Expr:
    """What is `start` at first, after so many rounds that add `by`."""
    t = start.type
    assert isinstance(t, Scalar)
    many = rounds if t == I64 else ir.Cast(t, rounds)
    return ir.Binary("+", start, many if by == 1 else ir.Binary("*", many, ir.Const(by, t)))


def _reach(low: Lowering, apply: ir.EdgeApply, hop: str, t: Scalar) -> str:
    """The operator under whose conditions `dst` is one hop farther than `src`."""
    operator = low.program.operator(apply.op)
    src, _, dst = operator.args

    def rule(n: ir.Node) -> ir.Node | None:
        if not isinstance(n, ir.Claim):
            return None
        return ir.Reduce("min", hop, ir.Var(dst, VID), _next(hop, src, t), span=n.span)

    return _declare(low, operator, "hop", ir.transform_body(operator.body, rule))


def _next(hop: str, src: str, t: Scalar) -> ir.Expr:
    return ir.Binary("+", ir.Load(hop, ir.Var(src, VID), t), ir.Const(1, t))


def _claim(low: Lowering, apply: ir.EdgeApply, found: Search, hop: str, t: Scalar) -> str:
    """The operator itself, in the round of `src`."""
    operator = low.program.operator(apply.op)
    src, _, dst = operator.args
    done = ir.Cast(I64, ir.Binary("-", ir.Load(hop, ir.Var(src, VID), t), ir.Const(1, t)))

    def rule(n: ir.Node) -> ir.Node | None:
        match n:
            case ir.GlobalVar(name=name) if name in found.before:
                return _after(n, found.before[name], ir.Binary("+", done, scalar(1)))
            case ir.GlobalVar(name=name) if name in found.behind:
                return _after(n, found.behind[name], done)
            case ir.Load(prop=found.claim.prop, type=held) if found.level is not None:
                return _after(ir.Const(found.level[0], held), found.level[1], done)
        return None

    reached = ir.Compare(">", _next(hop, src, t), ir.Const(1, t))
    beyond = ir.Compare("==", ir.Load(hop, ir.Var(dst, VID), t), _next(hop, src, t))
    body = ir.transform_body(operator.body, rule)
    return _declare(
        low, operator, "claim", (ir.If(ir.Logical("and", reached, beyond), body, span=operator.span),)
    )


def _declare(low: Lowering, operator: ir.Operator, hint: str, body: ir.Body) -> str:
    name = low.fresh(f"{operator.name}.{hint}")
    low.declare("operators", ir.with_fields(operator, {"name": name, "body": body}))
    return name


def _in_any_order(schedule: ApplySchedule) -> bool:
    return schedule.hops > 1 or schedule.tiles > 0 or schedule.order != UNORDERED


def _wanted(program: ir.Program, n: ir.Stmt) -> ir.EdgeApply | None:
    """The apply of a search out of the order of rounds, if the statement is its loop."""
    if not isinstance(n, ir.While):
        return None
    for apply in n.body:
        if isinstance(apply, ir.EdgeApply) and apply.schedule is not None and is_round_loop(n, apply):
            claims = effects(program.operator(apply.op)).classes() == {WriteClass.CLAIMING}
            if claims and _in_any_order(apply.chosen):
                return apply
    return None


def _run(program: ir.Program, context: Context) -> ir.Program:
    low = Lowering(program, context)

    def rule(n: ir.Stmt) -> ir.Body | None:
        apply = _wanted(program, n)
        if apply is None:
            return None
        found = search(program, apply)
        assert isinstance(n, ir.While)
        assert isinstance(found, Search)
        return _searched(low, n, apply, found)

    body = ir.transform_driver(program.body, rule)
    return program if body is program.body else low.finished(body)


count_hops = Pass("count-hops", _run, takes=ir.Level.SCHEDULED, gives=ir.Level.SCHEDULED)

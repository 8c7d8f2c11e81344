"""`lower-applies`: scheduled level to kernel level, each apply by the form that its schedule names."""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import WriteClass, effects
from vgraph.compiler.axes.one_order import in_turn
from vgraph.compiler.axes.per_round import loop_around
from vgraph.compiler.ir.rewrite import Context, Pass, transform_body, walk, with_fields
from vgraph.compiler.passes.choose_per_round import lower_per_round
from vgraph.compiler.passes.fix_order import fix_order
from vgraph.compiler.passes.loop_hints import with_hints
from vgraph.compiler.passes.lower_apply_scatter import lower_apply_scatter
from vgraph.compiler.passes.lower_gather_apply import lower_gather_apply
from vgraph.compiler.passes.lower_ordered import lower_ordered_loops
from vgraph.compiler.passes.lower_pull import lower_pull
from vgraph.compiler.passes.lower_push import lower_push
from vgraph.compiler.passes.lower_queues import declare, lower_queue
from vgraph.compiler.passes.lower_vertex import lower_vertex
from vgraph.compiler.passes.lowering import Lowering
from vgraph.compiler.types import EID, VID
from vgraph.graph.segments import property_name
from vgraph.schedule import Direction, Drive, Phases


def _apply(low: Lowering, n: ir.Node) -> ir.Body | None:
    match n:
        case ir.EdgeApply(schedule=schedule):
            assert schedule is not None
            body = (*_in_order(low, n, _lower(low, n)), *_compressed(low, n))
            return with_hints(body, schedule)
        case ir.VertexApply(schedule=schedule):
            assert schedule is not None
            body = (*_in_order(low, n, lower_vertex(low, n)), *_compressed(low, n))
            return with_hints(body, schedule)
        case ir.Fill(prop=prop, value=value):
            v = low.fresh("v")
            filled = ir.Var(v, VID) if value is None else value
            return (ir.ParFor(v, None, None, (ir.Store(prop, ir.Var(v, VID), filled),), span=n.span),)
        case ir.Store():
            return (ir.Single((n,), span=n.span),)
        case ir.While() | ir.For() if low.at_loop:
            first = tuple(low.at_loop)
            low.at_loop.clear()
            return (*first, n)
    return None


def _lower(low: Lowering, n: ir.EdgeApply) -> ir.Body:
    """The form, or the forms, that the schedule names."""
    schedule = n.schedule
    assert schedule is not None
    if schedule.phases is Phases.GATHER_APPLY:
        return lower_gather_apply(low, n)
    if schedule.phases is Phases.APPLY_SCATTER:
        return lower_apply_scatter(low, n)
    if schedule.drive is not Drive.AUTO:
        return lower_push(low, n) if schedule.direction is Direction.PUSH else lower_pull(low, n)
    loop = loop_around(low.program, n)
    return lower_per_round(low, n, loop.body if loop is not None else low.program.body)


def _in_order(low: Lowering, n: ir.EdgeApply | ir.VertexApply, body: ir.Body) -> ir.Body:
    """`body`, its loop visited by one thread where threads would come in an order that matters."""
    if not (low.deterministic and in_turn(low.program, low.program.operator(n.op))):
        return body
    return tuple(ir.Alone((s,), span=s.span) if isinstance(s, ir.ParFor) else s for s in body)


def _compressed(low: Lowering, n: ir.EdgeApply | ir.VertexApply) -> ir.Body:
    """What follows on the unions of an operator."""
    writes = effects(low.program.operator(n.op)).writes
    return tuple(_compress(low, p) for p in sorted({w.prop for w in writes if w.kind is WriteClass.MERGING}))


def _compress(low: Lowering, prop: str) -> ir.Stmt:
    """After unions: every vertex points at its root, which has the smallest id of its set."""
    v, root = low.fresh("v"), low.fresh("root")
    here = ir.Var(root, VID)
    above = ir.Load(prop, here, VID)
    body: ir.Body = (
        ir.Let(root, VID, ir.Load(prop, ir.Var(v, VID), VID)),
        ir.While(ir.Compare("!=", above, here), (ir.Assign(root, above),)),
        ir.Store(prop, ir.Var(v, VID), here),
    )
    return ir.ParFor(v, None, None, body)


def _edges_in_order(program: ir.Program) -> ir.Program:
    """Edge properties reached through in-arcs are read in the order of the transpose, or of its segments."""
    incoming = {
        n.edge: n.segments
        for n in walk(program)
        if isinstance(n, ir.ForNeighbors) and n.orientation is ir.Orientation.IN
    }
    permuted: dict[str, ir.Property] = {}

    def rule(n: ir.Node) -> ir.Node | None:
        if (
            isinstance(n, ir.Load)
            and n.index.type == EID
            and isinstance(n.index, ir.Var)
            and n.index.name in incoming
        ):
            declared = program.property(n.prop)
            if declared.site is not ir.Site.EDGE:
                return None
            name, site = f"{n.prop}.in", ir.Site.EDGE_IN
            if incoming[n.index.name] > 1:
                name, site = property_name(n.prop, incoming[n.index.name]), ir.Site.EDGE_SEGMENTS
            permuted[name] = ir.Property(name, declared.type, site, declared.origin, span=declared.span)
            return with_fields(n, {"prop": name})
        return None

    body = transform_body(program.body, rule)
    used = {n.prop for top in body for n in walk(top) if isinstance(n, ir.Load)}
    kept = tuple(p for p in program.properties if p.site is not ir.Site.EDGE or p.name in used)
    return with_fields(program, {"body": body, "properties": (*kept, *permuted.values())})


def _declared(program: ir.Program, low: Lowering) -> ir.Program:
    """Declare hidden frontiers and globals; every frontier takes the layouts that any of them needs."""
    names = [f.name for f in program.frontiers] + list(low.frontiers)
    nodes = [n for top in program.body for n in walk(top)]
    bitmap = any(
        isinstance(n, ir.InFrontier)
        or (
            isinstance(n, ir.FrontierPush | ir.FrontierConvert | ir.FrontierClear | ir.ParFor)
            and n.layout is ir.Layout.BITMAP
        )
        for n in nodes
    )
    flags = any(isinstance(n, ir.FrontierPush) and n.layout is ir.Layout.SPARSE and n.dedupe for n in nodes)
    layouts = (ir.Layout.SPARSE, ir.Layout.BITMAP) if bitmap else (ir.Layout.SPARSE,)
    frontiers = tuple(ir.FrontierDecl(name, layouts, flags) for name in names)
    body = program.body
    if not bitmap:
        body = transform_body(body, lambda n: () if isinstance(n, ir.FrontierConvert) else None)
    changes = {"frontiers": frontiers, "globals": (*program.globals, *low.globals.values()), "body": body}
    changes |= {"buckets": tuple(low.buckets.values())}
    return with_fields(program, changes)


def _run(program: ir.Program, context: Context) -> ir.Program:
    low = Lowering(
        program,
        warps=context.abilities.warps,
        directed=context.facts.directed,
        deterministic=context.deterministic,
    )
    body = lower_ordered_loops(low, program.body)
    queues = {q.name: declare(low, q) for q in program.queues}
    body = transform_body(body, lambda n: lower_queue(low, queues, n) or _apply(low, n))
    body = (*low.at_loop, *body)
    changes = {
        "body": body,
        "params": (*program.params, *low.params.values()),
        "properties": (*program.properties, *low.properties.values()),
        "operators": (),
        "queues": (),
        "level": ir.Level.KERNEL,
    }
    lowered = with_fields(program, changes)
    declared = _declared(_edges_in_order(lowered), low)
    return fix_order(declared) if context.deterministic else declared


lower_applies = Pass("lower-applies", _run, takes=ir.Level.SCHEDULED, gives=ir.Level.KERNEL)

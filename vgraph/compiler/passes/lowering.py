"""What the lowerings of all forms share: names, hidden declarations, and how a write takes effect."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Final

from vgraph.compiler import ir
from vgraph.compiler.axes.one_order import in_turn
from vgraph.compiler.facts import DEFERRED
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.passes.loop_hints import with_hints
from vgraph.compiler.types import BOOL, EID, I64, VID, Packed, Scalar, Type, element_of, is_long
from vgraph.schedule import ApplySchedule, Drive, FrontierLayout

FALSE, TRUE = ir.Const(False, BOOL), ir.Const(True, BOOL)


def layout_of(layout: FrontierLayout) -> ir.Layout:
    """The IR's word for a schedule's layout."""
    return ir.Layout.BITMAP if layout is FrontierLayout.BITMAP else ir.Layout.SPARSE


DEFERRED_PASSES: Final = 8
"""Passes that are told apart; the last counts for all after it, too."""


class Lowering:
    """One pass on its way through a program: gives fresh names, and collects what has to be declared."""

    def __init__(self, program: ir.Program, context: Context) -> None:
        self.program, self.context = program, context
        self._declared: dict[str, list[ir.Node]] = {}
        self.ordered = program.ordered
        self.begin: list[ir.Stmt] = []
        """What the program begins with."""

    @cached_property
    def fresh(self) -> ir.FreshNames:
        """Gives names that the program does not have, but for those inside its operators."""
        return ir.fresh_names(ir.with_fields(self.program, {"operators": ()}))

    def declare(self, group: str, declaration: ir.Node) -> None:
        """Add to a group of the program's declarations: `properties`, `globals`, `frontiers`, ..."""
        self._declared.setdefault(group, []).append(declaration)

    def declared(self, group: str) -> list[ir.Node]:
        """What was added to a group."""
        return self._declared.get(group, [])

    def finished(self, body: ir.Body) -> ir.Program:
        """The program with another driver loop, and with what was declared."""
        more = {group: (*getattr(self.program, group), *nodes) for group, nodes in self._declared.items()}
        return ir.with_fields(self.program, {**more, "body": (*self.begin, *body), "ordered": self.ordered})

    def operator(self, name: str) -> ir.Operator:
        """The operator with its locals renamed apart from everything in the driver loop and in other loops."""
        found = self.program.operator(name)
        names: dict[str, str] = {}
        for n in ir.walk(found):
            if isinstance(n, ir.Var):
                continue
            for attribute in ir.local_names(type(n)):
                value = n.__dict__[attribute]
                for local in value if isinstance(value, tuple) else (value,):
                    if local is not None and local not in names:
                        names[local] = self.fresh(local)
        return ir.rename(found, names)

    def counter(self, hint: str = "arcs") -> str:
        """A global that counts the arcs walked in one round, or what `hint` names."""
        name = self.fresh(hint)
        self.declare("globals", ir.Global(name, I64))
        return name

    def number(self, name: str, t: Scalar = I64) -> ir.Var:
        """A hidden parameter, `policy.*` or `graph.*`."""
        known = (*self.program.params, *self._declared.get("params", ()))
        if all(p.__dict__["name"] != name for p in known):
            self.declare("params", ir.Param(name, t))
        return ir.Var(name, t)

    def buffer(self, hint: str, t: Type, site: ir.Site) -> str:
        """A property that lies between two parallel loops."""
        name = self.fresh(hint)
        self.declare("properties", ir.Property(name, t, site, ir.Origin.LOCAL))
        return name

    def hidden(self, hint: str) -> str:
        """A frontier that the algorithm does not know of."""
        name = self.fresh(hint)
        self.declare("frontiers", ir.FrontierDecl(name))
        return name

    def target(self, apply: ir.Apply) -> str | None:
        """The hidden frontier that a round fills before it takes the place of its output; None if it has none."""
        shared = apply.into if isinstance(apply, ir.EdgeApply) else None
        return shared or (self.hidden(f"{apply.out}.next") if apply.out else None)


def rewriting(
    name: str, wanted: Callable[[ir.Stmt], bool], rule: Callable[[Lowering, Any], ir.Body | None]
) -> Pass:
    """A pass that rewrites the `wanted` statements of the driver loop; without one the program is what it was."""

    def run(program: ir.Program, context: Context) -> ir.Program:
        if not any(map(wanted, ir.driver(program.body))):
            return program
        low = Lowering(program, context)
        body = ir.transform_driver(program.body, lambda n: rule(low, n) if wanted(n) else None)
        return program if body is program.body else low.finished(body)

    return Pass(name, run, takes=ir.Level.SCHEDULED, gives=ir.Level.SCHEDULED)


def lowering(
    name: str,
    kind: type[ir.Apply],
    form: Callable[[ApplySchedule], bool],
    lower: Callable[[Lowering, Any], ir.Body],
) -> Pass:
    """A pass that turns every apply of this kind, of a schedule in this form, into loops."""

    def wanted(n: ir.Stmt) -> bool:
        return isinstance(n, kind) and n.schedule is not None and form(n.chosen)

    def rule(low: Lowering, n: ir.Apply) -> ir.Body:
        body = lower(low, n)
        if low.context.deterministic and in_turn(low.program, low.program.operator(n.op)):
            # Threads would come in an order that matters, so one visits all.
            body = tuple(ir.Alone((s,), span=s.span) if isinstance(s, ir.ParFor) else s for s in body)
        return with_hints(body, n.chosen)

    return rewriting(name, wanted, rule)


# --- frontiers ------------------------------------------------------------------------------------------------


def wants_membership(schedule: ApplySchedule) -> bool:
    """True if a loop over vertices asks of each whether it is active."""
    return schedule.drive is Drive.TOPOLOGY


def input_layout(apply: ir.Apply) -> ir.Layout:
    """The layout in which a traversal wants its frontier: BITMAP where it asks for membership."""
    if wants_membership(apply.chosen):
        return ir.Layout.BITMAP
    piped = apply.chosen.pipeline > 0  # it takes pieces of a queue
    return ir.Layout.SPARSE if piped else layout_of(apply.chosen.frontier)


def over_active(
    apply: ir.Apply, vertex: str, visit: ir.Body, everywhere: ir.Domain, position: str | None = None
) -> ir.ParFor:
    """A loop over the active vertices: over `everywhere`, where each is asked, or over the frontier."""
    if wants_membership(apply.chosen):
        domain, visit = everywhere, active_only(apply, vertex, visit)
    else:
        domain = ir.members(apply.frontier, input_layout(apply))
    return ir.ParFor(vertex, domain, visit, apply.label, position, span=apply.span)


def counted_round(apply: ir.Apply, target: str | None, direction: str, arcs: str, loops: ir.Body) -> ir.Body:
    """A whole round of `loops`, which count in the global `arcs`."""
    return (
        *before_round(apply, target, input_layout(apply)),
        ir.SetGlobal(arcs, scalar(0)),
        *loops,
        *after_round(apply, target, direction, count_of(arcs)),
    )


def note_deferred(low: Lowering, label: str, number: str, left: ir.Expr) -> ir.Body:
    """Behind a pass over activations: those that it has `left` count for its `number`, which goes up."""
    known = {r.__dict__["name"] for r in (*low.program.results, *low.declared("results"))}
    done: list[ir.Stmt] = []
    for k in range(DEFERRED_PASSES):
        name = f"{DEFERRED}{label}.{k}"
        if name not in known:
            low.declare("globals", ir.Global(name, I64))
            low.begin.append(ir.SetGlobal(name, scalar(0)))
            low.declare("results", ir.Result(name, "scalar", count_of(name)))
        op = ">=" if k == DEFERRED_PASSES - 1 else "=="
        more = ir.SetGlobal(name, ir.Binary("+", count_of(name), left))
        done.append(ir.If(ir.Compare(op, count_of(number), scalar(k)), (more,)))
    return (*done, ir.SetGlobal(number, ir.Binary("+", count_of(number), scalar(1))))


def before_round(apply: ir.Apply, target: str | None, given: ir.Layout) -> ir.Body:
    """Put the frontier into its layout and empty the bitmap that the round fills."""
    body: list[ir.Stmt] = []
    if apply.frontier is not None:
        body.append(ir.FrontierConvert(apply.frontier, given, span=apply.span))
    if target is not None and layout_of(apply.chosen.frontier) is ir.Layout.BITMAP:
        body.append(ir.FrontierClear(target, ir.Layout.BITMAP, span=apply.span))
    return tuple(body)


def after_round(apply: ir.Apply, target: str | None, direction: str, arcs: ir.Expr) -> ir.Body:
    """Record the round; the frontier that was filled takes its place."""
    active: ir.Expr = (
        ir.GraphSize("num_vertices") if apply.frontier is None else ir.FrontierSize(apply.frontier)
    )
    body: list[ir.Stmt] = []
    if not (isinstance(apply, ir.VertexApply) and apply.untraced):
        body.append(ir.Trace(apply.label, direction, active, arcs, span=apply.span))
    if target is not None:
        assert apply.out is not None
        swap: list[ir.Stmt] = [ir.FrontierSwap(apply.out, target, span=apply.span)]
        either = isinstance(apply, ir.EdgeApply) and apply.into is not None  # another form may have filled it
        if either or layout_of(apply.chosen.frontier) is ir.Layout.SPARSE:
            swap.append(ir.FrontierClear(target, ir.Layout.SPARSE, span=apply.span))
        body.append(ir.Single(tuple(swap), span=apply.span))
    return tuple(body)


def push(apply: ir.Apply, target: str, vertex: ir.Expr, *, own: bool) -> ir.Stmt:
    """Put `vertex` into the frontier that the round fills; `own`: each vertex is pushed by one thread only."""
    layout = layout_of(apply.chosen.frontier)
    dedupe = layout is ir.Layout.BITMAP or (apply.chosen.deduplicate and not own)
    return ir.FrontierPush(target, vertex, layout, dedupe, span=apply.span)


def active_only(apply: ir.Apply, vertex: str, body: ir.Body) -> ir.Body:
    """The body for members of the frontier only."""
    if apply.frontier is None:
        return body
    return (ir.If(ir.InFrontier(apply.frontier, ir.Var(vertex, VID)), body, span=apply.span),)


# --- writes ---------------------------------------------------------------------------------------------------


def took_effect(new: ir.Expr, old: ir.Expr) -> ir.Expr:
    """Whether a reduction changed a value; NaN stays NaN without counting as a change."""
    changed = ir.Compare("!=", new, old)
    kind = element_of(new.type)
    return ir.Logical("and", changed, ir.Compare("==", old, old)) if kind.is_float else changed


def in_place(low: Lowering, n: ir.Reduce, mark: ir.Body) -> ir.Body:
    """A reduction into a vector that is too long for registers, and what is done where it took effect."""
    if not mark:
        return (n,)
    changed = low.fresh("changed")
    reduced = ir.with_fields(n, {"changed": changed})
    return (ir.Let(changed, BOOL, FALSE), reduced, ir.If(ir.Var(changed, BOOL), mark))


def shared_writes(low: Lowering, body: ir.Body, hit: str | None) -> ir.Body:
    """Writes that may meet those of others: those at vertices tell through `hit`, claims and unions become swaps."""

    def rule(n: ir.Node) -> ir.Stmt | tuple[ir.Stmt, ...] | None:
        match n:
            case ir.Reduce() if n.index.type != EID:
                return ir.with_fields(n, {"changed": hit}) if hit else None
            case ir.Claim():
                ok = low.fresh("claimed")
                mark: ir.Body = (ir.Assign(hit, TRUE),) if hit else ()
                return (
                    ir.Let(ok, BOOL, FALSE),
                    ir.CompareAndSwap(ok, n.prop, n.index, n.expected, n.value),
                    ir.If(ir.Var(ok, BOOL), (*mark, *n.body)),
                )
            case ir.If(condition=test, then=(ir.Let(), ir.CompareAndSwap() as swap, ir.If()), other=()):
                open_still = ir.Compare("==", ir.Load(swap.prop, swap.index, swap.value.type), swap.expected)
                return ir.If(open_still, (n,)) if _may_wait(low, test) else None
            case ir.Union(prop=prop, a=a, b=b):
                return unite(low, prop, a, b)
        return None

    return ir.transform_body(body, rule)


def _may_wait(low: Lowering, test: ir.Expr) -> bool:
    """Whether a test cannot fail and looks for an edge's number first, so that it is made where a claim may succeed."""
    nodes = list(ir.walk(test))
    safe = ir.Load | ir.Var | ir.GlobalVar | ir.Const | ir.Compare | ir.Logical
    numbered = {p.name for p in low.program.properties if p.site is ir.Site.NUMBERED}
    read = {n.prop for n in nodes if isinstance(n, ir.Load)}
    return all(isinstance(n, safe) for n in nodes) and not numbered.isdisjoint(read)


def updates(
    low: Lowering, apply: ir.EdgeApply, operator: ir.Operator, target: str | None, only: ir.Expr | None = None
) -> ir.Body:
    """What is done for an arc in a loop over those that leave a vertex: `dst` enters `target` where it is changed, and
    where `only` holds behind that."""
    if target is None:
        return shared_writes(low, operator.body, None)
    hit = low.fresh("hit")
    writes = shared_writes(low, operator.body, hit)
    pushed = push(apply, target, ir.Var(operator.args[2], VID), own=False)
    enters: ir.Expr = ir.Var(hit, BOOL)
    if only is not None:
        enters = ir.Logical("and", enters, only)
    return (ir.Let(hit, BOOL, FALSE), *writes, ir.If(enters, (pushed,)))


def unite(low: Lowering, prop: str, a: ir.Expr, b: ir.Expr) -> ir.Body:
    """Hook the larger root under the smaller until both ends have one root (Sutton et al. 2018, Afforest: link).

    On large graphs paths are halved on the way, so that not all threads climb the same long one (Jaiganesh and
    Burtscher 2018, ECL-CC): what is no root gets an ancestor for its parent, and is no root forever.
    """
    names = ("x", "y", "high", "low", "above", "up", "hooked")
    x, y, high, low_, above, up, ok = (low.fresh(n) for n in names)

    def at(v: ir.Expr) -> ir.Expr:
        return ir.Load(prop, v, VID)

    def var(name: str) -> ir.Expr:
        return ir.Var(name, VID)

    def start(v: ir.Expr) -> ir.Expr:
        # `union(a.component, b.component)` names the sets by their ids; a vertex names its own.
        return v if isinstance(v, ir.Load) and v.prop == prop else at(v)

    hook: ir.Body = (
        ir.Let(ok, BOOL, FALSE),
        ir.CompareAndSwap(ok, prop, var(high), var(high), var(low_)),
        ir.If(ir.Var(ok, BOOL), (ir.Break(),)),
    )
    many = ir.Compare(">", ir.GraphSize("num_vertices"), low.number("policy.halving_vertices"))
    halved: ir.Body = (
        ir.Let(up, VID, at(var(above))),
        ir.If(ir.Compare("!=", var(up), var(above)), (ir.Store(prop, var(high), var(up)),)),
        ir.Assign(x, var(up)),
    )
    step: ir.Body = (
        ir.Let(high, VID, ir.Binary("max", var(x), var(y))),
        ir.Let(low_, VID, ir.Binary("min", var(x), var(y))),
        ir.Let(above, VID, at(var(high))),
        ir.If(ir.Compare("==", var(above), var(low_)), (ir.Break(),)),
        ir.If(ir.Compare("==", var(above), var(high)), hook),
        ir.If(many, halved, (ir.Assign(x, at(at(var(high)))),)),
        ir.Assign(y, at(var(low_))),
    )
    return (
        ir.Let(x, VID, start(a)),
        ir.Let(y, VID, start(b)),
        ir.While(ir.Compare("!=", var(x), var(y)), step),
    )


def scalar(value: int, t: Scalar = I64) -> ir.Const:
    """A constant."""
    return ir.Const(value, t)


def leading(value: ir.Expr) -> ir.Expr:
    """What orders vertices by `value`: of a word the value that comes first."""
    return ir.Field(value, 0) if isinstance(value.type, Packed) else value


def hoist_loads(low: Lowering, body: ir.Body, vertex: str) -> tuple[ir.Body, ir.Body]:
    """Reads of properties at `vertex`, done once before the loop over its arcs; (declarations, new body)."""
    lets: dict[str, ir.Let] = {}

    def rule(n: ir.Node) -> ir.Node | None:
        at_vertex = isinstance(n, ir.Load) and isinstance(n.index, ir.Var) and n.index.name == vertex
        if isinstance(n, ir.Load) and at_vertex and not is_long(n.type):
            if n.prop not in lets:
                lets[n.prop] = ir.Let(low.fresh(f"{vertex}.{n.prop}"), n.type, n, span=n.span)
            return ir.Var(lets[n.prop].name, n.type, span=n.span)
        return None

    new = ir.transform_body(body, rule)
    return tuple(lets.values()), new


def store(prop: str, vertex: str, value: ir.Expr) -> ir.Store:
    """`prop[vertex] = value`."""
    return ir.Store(prop, ir.Var(vertex, VID), value)


MUTEX = "mutex.of.vertices"


def of_vertices(low: Lowering, hint: str, t: Scalar, first: ir.Expr | None = None) -> str:
    """The one array of this name in a program, which holds `first`, or 0, at all vertices when the program begins."""
    for p in (*low.program.properties, *low.declared("properties")):
        if p.__dict__["name"].startswith(hint):
            return str(p.__dict__["name"])
    name, v = low.buffer(hint, t, ir.Site.VERTEX), low.fresh("v")
    put = ir.Store(name, ir.Var(v, VID), first or scalar(0, t))
    low.begin.append(ir.ParFor(v, ir.Vertices(), (put,)))
    return name


def count_of(name: str) -> ir.Expr:
    """A hidden counter as a value."""
    return ir.GlobalVar(name, I64)

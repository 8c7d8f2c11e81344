"""Whole properties in algorithms: `a = b * 2 + c`, `rank[:] = 1 / graph.num_vertices`, `graph.sum(abs(a - b))`.

Such an expression is evaluated at every vertex, where the name of a property is its value there; what has no property
in it is a number, evaluated once, before. A statement is a vertex operator of its own, or part of the operator of
statements before it, if nothing in between has to stay there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import COMBINED, Value, Weak, default, describe, loaded, zero
from vgraph.compiler.frontend.lowering import access
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.arithmetic import conditional
from vgraph.compiler.frontend.lowering.calls import called
from vgraph.compiler.frontend.lowering.context import APPLY, AlgorithmContext, Context, Shared
from vgraph.compiler.frontend.lowering.generated import add_operator, at_vertex, kept
from vgraph.compiler.frontend.lowering.graph import is_graph, widen_global
from vgraph.compiler.frontend.lowering.properties import name_result, not_scratch, own_property
from vgraph.compiler.frontend.lowering.statics import UNKNOWN, static_value
from vgraph.compiler.frontend.lowering.values import arguments, condition, entity, fit, produce, value
from vgraph.compiler.frontend.typed import position_of
from vgraph.compiler.types import BOOL, F64, I64, U64, Kind, Type, Vector, element_of
from vgraph.source import Span

_SIMPLE: Final = (ir.Let, ir.Assign, ir.Accumulate, ir.SetGlobal)
"""Statements that do nothing but what they write."""
_LOCAL, _GLOBAL, _PROPERTY = "local", "global", "property"
_Where = tuple[str, str]
"""A variable, global or property: of which of them, and its name."""


# --- statements


def assign(ctx: Context, statement: s.Assign) -> None:
    """`x = e` where x is a property, or e has one in it; `x[:] = e`; or any other assignment."""
    prop = _target(ctx, statement.target)
    if not isinstance(ctx, AlgorithmContext) or (prop is None and not _mentions(ctx, statement.value)):
        access.assign(ctx, statement)
        return
    target, at = statement.target, _AtVertex(ctx, statement.span)
    named = isinstance(target, s.Name)
    text = None if named and isinstance(statement.value, s.Name) else at.expr(statement.value)
    if prop is None and (text is None or not named):
        access.assign(ctx, statement)
        return
    if text is None and isinstance(target, s.Name):
        found = produce(ctx, statement.value)
        if not isinstance(found, Value):
            access.bind(ctx, statement, target, found)
            return
        text = at.bound(found, statement.value.span)
    _put(ctx, statement, at, text or at.number(statement.value), prop)


def bind(ctx: AlgorithmContext, statement: s.Assign, target: s.Name, found: en.PropertyRef) -> None:
    """`x = ` a property: what a call gave may become x; otherwise x gets its values."""
    if not found.result or (found.free and target.id not in ctx.frame.objects):
        name_result(ctx, statement, target, found)
        return
    at = _AtVertex(ctx, statement.span)
    _put(ctx, statement, at, at.bound(found, statement.value.span), _target(ctx, target))


def _put(
    ctx: AlgorithmContext, statement: s.Assign, at: _AtVertex, text: s.Expr, prop: ir.Property | None
) -> None:
    """Store what holds at each vertex in a property, by default in a new one."""
    target, new = statement.target, value(at.inner, text)
    if prop is None:
        assert isinstance(target, s.Name)
        prop = own_property(ctx, target, default(new.kind), statement.span)
    not_scratch(prop, target.span)
    if prop.origin is not ir.Origin.LOCAL:
        raise refusals.writes.ReadOnly(target.span, prop.name, "the algorithm did not make it")
    if prop.disjoint:
        raise refusals.writes.DisjointSets(target.span, prop.name)
    ctx.no_writes_in_helpers(target.span)
    written = target.value if isinstance(target, s.Index) else target
    assert isinstance(written, s.Name)
    stored = access.stored(at.inner, new, prop.type, f"`{written.id}`")
    at.inner.emit(ir.Store(prop.name, at.inner.own, stored, span=statement.span))
    ctx.frame.typed.kinds[position_of(target.span)] = prop.type
    at.done(written.id, statement.span)


def augment(ctx: Context, statement: s.Augment) -> None:
    """`x += e` where x is a property, `x[:] += e`, or any other."""
    if _target(ctx, statement.target) is None:
        access.augment(ctx, statement)
        return
    whole = s.Binary(statement.span, statement.op, statement.target, statement.value)
    assign(ctx, s.Assign(statement.span, statement.target, whole))


# --- values


def combined(ctx: AlgorithmContext, e: s.Call, graph: en.GraphRef) -> en.Entity:
    """`graph.sum(e)`, `min`, `max`, `any`, `all`, `count`: the values at all vertices as one."""
    assert isinstance(e.function, s.Attribute)
    how = e.function.name
    (given,) = arguments(e, f"graph.{how}", 1)
    at = _AtVertex(ctx, e.span)
    text = at.expr(given)
    if text is None:
        raise refusals.driver.NoWholeProperty(given.span, how)
    x = _one(at.inner, text, how)
    op, t = COMBINED[how], x.type
    name = ctx.unit.names.fresh(f"{how}.now")
    ctx.unit.globals.setdefault(name, e.span)
    widen_global(ctx, name, Value(x.expr, t, e.span), e.span)
    ctx.emit(ir.SetGlobal(name, _start(op, t, e.span), span=e.span))
    at.inner.emit(ir.ReduceGlobal(op, name, fit(x, t), span=e.span))
    ctx.frame.typed.kinds[position_of(e.span)] = t
    at.done(how, e.span)
    return Value(ir.GlobalVar(name, t, span=e.span), t, e.span)


def _one(inner: Context, text: s.Expr, how: str) -> Value:
    """What one vertex contributes."""
    if how in ("any", "all"):
        return Value(condition(inner, text), BOOL, text.span)
    if how == "count":
        return Value(ir.Cast(I64, condition(inner, text), span=text.span), I64, text.span)
    x = value(inner, text)
    element = element_of(x.type)
    if how == "sum":
        wide = F64 if element.is_float else U64 if element.kind is Kind.UNSIGNED else I64
        t: Type = Vector(wide, x.type.length) if isinstance(x.type, Vector) else wide
        return Value(fit(x, t), t, text.span)
    if element.kind in (Kind.BOOL, Kind.INDEX):
        raise refusals.types.BadReduction(text.span, describe(x.kind), how)
    return Value(fit(x, x.type), x.type, text.span)


def _start(op: str, t: Type, span: Span) -> ir.Expr:
    """What `op` gives where there are no vertices."""
    if op in ("min", "max"):
        extreme = ir.Const(float("inf") if op == "min" else -float("inf"), F64, span=span)
        return fit(Value(extreme, Weak.INF, span), t)
    return ir.Const(True, BOOL, span=span) if op == "&" else zero(t, span)


def elsewhere(ctx: Context, e: s.Slice) -> en.Entity:
    """A slice that is no whole property and no part of a vector."""
    raise refusals.syntax.Slice(e.span, "this is no vector")


def where(ctx: AlgorithmContext, e: s.Call, graph: en.GraphRef) -> en.Entity:
    """`graph.where(test, a, b)` of numbers."""
    return conditional(ctx, s.Conditional(e.span, *arguments(e, "graph.where", 3)))


# --- at a vertex


class _AtVertex:
    """Makes of an expression of the algorithm one of a vertex operator, and of that an apply."""

    def __init__(self, ctx: AlgorithmContext, span: Span) -> None:
        self.ctx = ctx
        self.shared = ctx.shared if ctx.shared is not None and ctx.shared.out is ctx.out else None
        self.inner = at_vertex(ctx, "v", span, {}, None if self.shared is None else self.shared.inner)

    def expr(self, e: s.Expr) -> s.Expr | None:
        """The expression with names for its properties and numbers; None if it has no whole property in it."""
        prop = _property(self.ctx, e)
        if prop is not None:
            load = ir.Load(prop.name, self.inner.own, prop.type, span=e.span)
            return self._named(loaded(load, e.span), e.span)
        if isinstance(e, s.Conditional) and (known := static_value(e.test, self.ctx)) is not UNKNOWN:
            return self.expr(e.then if known else e.other)
        parts, make = _parts(self.ctx, e)
        found = [self.expr(x) for x in parts]
        if not any(found):
            return None
        return make(*(new or self.number(x) for new, x in zip(found, parts, strict=True)))

    def number(self, e: s.Expr) -> s.Expr:
        """What has no property in it, evaluated before."""
        return e if isinstance(e, s.Literal) else self.bound(entity(self.ctx, e), e.span)

    def bound(self, found: en.Entity, span: Span) -> s.Name:
        """A name for a property's value at the vertex, or for what is the same at all."""
        if isinstance(found, (en.FrontierRef, en.ListRef, en.QueueRef)):
            raise refusals.driver.NotInCondition(span, en.words(found))
        if isinstance(found, en.PropertyRef) and found.result:
            load = ir.Load(found.property.name, self.inner.own, found.property.type, span=span)
            found = loaded(load, span)
        elif isinstance(found, Value) and not self._is_seen(found.expr):
            found = kept(self.ctx, self.ctx.unit.names.fresh("number.now"), found, span)
        return self._named(found, span)

    def _named(self, found: en.Entity, span: Span) -> s.Name:
        bindings = self.inner.frame.bindings
        name = f"whole.{len(bindings)}"
        bindings[name] = found
        return s.Name(span, name)

    def _is_seen(self, e: ir.Expr) -> bool:
        """Whether operators see a value as it stands."""
        own = isinstance(e, ir.Load) and e.index == self.inner.own
        return own or isinstance(e, (ir.Const, ir.GlobalVar)) or self.ctx.unit.is_param(e)

    def done(self, base: str, span: Span) -> None:
        """Apply what was lowered: by the operator before, if that can have it too, else by a new one."""
        ctx, added = self.ctx, tuple(self.inner.out)
        ctx.calls = self.inner.calls
        label, shared = "", self.shared
        between = None if shared is None else _between(shared, ctx, added)
        if shared is not None and between is not None:
            ahead, behind = between
            ctx.out[shared.at :] = [*ahead, ctx.out[shared.at], *behind]
            shared.at += len(ahead)
            op = ctx.unit.operators[shared.operator]
            ctx.unit.operators[op.name] = ir.with_fields(op, {"body": (*op.body, *added)})
        else:
            ctx.spend(span, APPLY)
            label = add_operator(ctx, base, self.inner.own, added, span)
            ctx.shared = Shared(self.inner, label, ctx.out, len(ctx.out))
            ctx.emit(ir.VertexApply(label, None, None, label, span=span))
        ctx.frame.typed.labels[position_of(span)] = label


def _parts(ctx: Context, e: s.Expr) -> tuple[tuple[s.Expr, ...], Callable[..., s.Expr]]:
    """What an operation is made of, and what makes it of such parts again; nothing of what is a number in any case."""
    match e:
        case s.Unary(op=op, operand=operand):
            return (operand,), partial(s.Unary, e.span, op)
        case s.Binary(op=op, left=left, right=right):
            return (left, right), partial(s.Binary, e.span, op)
        case s.Compare(first=first, rest=rest):
            ops = [op for op, _ in rest]
            parts = (first, *(x for _, x in rest))
            return parts, lambda a, *others: s.Compare(e.span, a, tuple(zip(ops, others, strict=True)))
        case s.Bool(op=op, values=values):
            return values, lambda *parts: s.Bool(e.span, op, parts)
        case s.Conditional(test=test, then=then, other=other):
            return (test, then, other), partial(s.Conditional, e.span)
        case s.Index(value=s.Name(id=name) as table, index=index) if isinstance(
            ctx.frame.bindings.get(name), en.ArrayRef
        ):
            if isinstance(index, s.Items):
                parts, made = (table, *index.items), partial(s.Items, index.span, index.kind)
                return parts, lambda a, *at: s.Index(e.span, a, made(at))
            return (table, index), partial(s.Index, e.span)
        case s.Call(function=function, args=args, keywords=keywords):
            what = called(ctx, function)
            if isinstance(what, en.Static) and not any(is_graph(ctx, x) for x in args):
                return args, lambda *parts: s.Call(e.span, function, parts, keywords)
            if isinstance(what, en.Method) and what.name == "where":
                return arguments(e, "graph.where", 3), partial(s.Conditional, e.span)
    return (), lambda: e


# --- what an operator may have, too


def _between(
    shared: Shared, ctx: AlgorithmContext, added: ir.Body
) -> tuple[list[ir.Stmt], list[ir.Stmt]] | None:
    """The statements after an apply: those that have to stand before it for its operator to do what is `added`, too,
    and those that stay. None where the whole would do something else."""
    op = ctx.unit.operators[shared.operator]
    seen, written = _reads(op.body), _writes(op.body)
    stored = _writes(added)
    wanted = {place for place in _reads(added) | stored if place[0] != _PROPERTY}
    if wanted & written or _far(added, shared) & written:
        return None
    ahead: list[ir.Stmt] = []
    behind: list[ir.Stmt] = []
    for x in reversed(ctx.out[shared.at + 1 :]):
        reads, writes = _reads((x,)), _writes((x,))
        moves = bool(writes & wanted)
        meets = reads & written or writes & (seen | written) if moves else reads & (stored | _writes(ahead))
        if meets or not isinstance(x, _SIMPLE):
            return None
        wanted |= reads if moves else set()
        (ahead if moves else behind).insert(0, x)
    return ahead, behind


def _far(body: ir.Body, shared: Shared) -> set[_Where]:
    """The properties that are read at other vertices, which see them as they were before the apply."""
    loads = (n for x in body for n in ir.walk(x) if isinstance(n, ir.Load))
    return {(_PROPERTY, n.prop) for n in loads if n.index != shared.inner.own}


def _reads(nodes: Iterable[ir.Node]) -> set[_Where]:
    """The variables, globals and properties that are read somewhere in nodes."""
    found: set[_Where] = set()
    for n in (n for node in nodes for n in ir.walk(node)):
        match n:
            case ir.Var(name=name) | ir.Accumulate(name=name):
                found.add((_LOCAL, name))
            case ir.GlobalVar(name=name):
                found.add((_GLOBAL, name))
            case ir.Load(prop=prop):
                found.add((_PROPERTY, prop))
    return found


def _writes(nodes: Iterable[ir.Node]) -> set[_Where]:
    """The same of what is written."""
    found: set[_Where] = set()
    for n in (n for node in nodes for n in ir.walk(node)):
        match n:
            case ir.Let(name=name) | ir.Assign(name=name) | ir.Accumulate(name=name):
                found.add((_LOCAL, name))
            case ir.SetGlobal(name=name) | ir.ReduceGlobal(name=name):
                found.add((_GLOBAL, name))
            case ir.Store(prop=prop):
                found.add((_PROPERTY, prop))
    return found


# --- what stands for a whole property


def _meant(ctx: Context, e: s.Expr) -> en.PropertyRef | en.GraphProperty | None:
    """The vertex property that `x`, `x[:]`, `graph.height` or `graph.height[:]` is as a whole, if it is one."""
    if isinstance(e, s.Index) and isinstance(e.index, s.Slice) and e.index.is_whole:
        e = e.value
    match e:
        case s.Name(id=name):
            found = ctx.frame.objects.get(name) or ctx.frame.bindings.get(name)
            return found if isinstance(found, en.PropertyRef) else None
        case s.Attribute(value=s.Name(id=call), name=name) if call in ctx.frame.objects:
            held = ctx.frame.objects[call]
            result = held.values.get(name) if isinstance(held, en.Results) else None
            return result if isinstance(result, en.PropertyRef) else None
        case s.Attribute(value=owner, name=name) if name in ctx.unit.signature.vertex_properties:
            graph = is_graph(ctx, owner) and name not in ctx.unit.globals
            return en.GraphProperty(name, e.span) if graph else None
    return None


def _property(ctx: Context, e: s.Expr) -> ir.Property | None:
    """The same, for use: declared in the program."""
    match _meant(ctx, e):
        case en.PropertyRef(property=prop):
            not_scratch(prop, e.span)
            return ctx.unit.parameter_property(prop.name, e.span) or prop
        case en.GraphProperty(name=name):
            return ctx.unit.graph_property(name, ir.Site.VERTEX, e.span)
    return None


def _target(ctx: Context, target: s.Expr) -> ir.Property | None:
    """The property that an assignment to `x` or `x[:]` writes as a whole."""
    if isinstance(ctx, AlgorithmContext) and isinstance(target, s.Name | s.Index):
        meant = _meant(ctx, target)
        if isinstance(meant, en.PropertyRef) and meant.result:
            raise refusals.writes.ReadOnly(target.span, meant.property.name, "it is the result of a call")
        return _property(ctx, target)
    return None


def _mentions(ctx: AlgorithmContext, e: s.Expr) -> bool:
    return any(isinstance(n, s.Expr) and _meant(ctx, n) is not None for n in s.walk(e))

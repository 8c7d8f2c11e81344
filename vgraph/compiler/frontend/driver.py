"""Lowering of algorithms: declarations, applies, frontiers and lists of frontiers, globals, results."""

from __future__ import annotations

from dataclasses import replace

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import entities as en
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.entities import Entity
from vgraph.compiler.frontend.frontiers import Frontiers
from vgraph.compiler.frontend.kinds import Value, Weak, describe, zero
from vgraph.compiler.frontend.parameters import Usage, usage
from vgraph.compiler.frontend.signature import ArrayType, PropertyArgument, StaticValue
from vgraph.compiler.frontend.unit import Unit, syntax_of
from vgraph.compiler.types import BOOL, I64, VID, Kind, Type, Vector
from vgraph.language import names as language
from vgraph.language.decorators import FunctionDef
from vgraph.language.names import DType
from vgraph.refusals.base import did_you_mean
from vgraph.source import Span

METHODS = (
    "vertex_property",
    "scratch",
    "priority_queue",
    "disjoint_sets",
    "frontier",
    "edge_apply",
    "vertex_apply",
    "vertex_filter",
)
OUT_OF_RANGE = "a vertex index is out of range"
RESERVED = (
    "algorithm",
    "converged",
    "finished",
    "made_from",
    "names",
    "origin",
    "reordered",
    "schedule",
    "stats",
    "trace",
)
"""The names that `vgraph.runtime.result.Result` has of its own; a bool `converged` may be returned."""


class DriverLowering(Frontiers):
    """Lowers an algorithm."""

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self.results: list[ir.Result] = []
        self.usage = Usage()

    def build(self) -> None:
        """Lower the whole algorithm into `self.out` and `self.results`."""
        text = syntax_of(self.definition)
        if not text.parameters:
            raise refusals.driver.AlgorithmParameters(text.span, text.name)
        self.frame.bindings[text.parameters[0].name] = en.GraphRef(text.parameters[0].span)
        arguments = self.unit.signature.arguments
        for parameter in text.parameters[1:]:  # their types follow once their uses are known
            given = arguments[parameter.name]
            if isinstance(given, StaticValue):
                self.frame.bindings[parameter.name] = en.Static(given.value, parameter.span)
            else:
                self.frame.bindings[parameter.name] = Value(zero(I64, parameter.span), I64, parameter.span)
        body = self.enter(text.body)
        self.usage = usage(body)
        for parameter in text.parameters[1:]:
            self.parameter(parameter)
        self.unit.driver_names = frozenset(self.frame.own_names)
        if not body or not isinstance(body[-1], s.Return) or body[-1].value is None:
            raise refusals.driver.NoResult(body[-1].span if body else text.span, text.name)
        self.body(body[:-1])
        last = body[-1].value
        for item in last.items if isinstance(last, s.Items) else (last,):
            self.result(item)

    def parameter(self, parameter: s.Parameter) -> None:
        """Declare a parameter; an int that indexes properties is a vertex."""
        given = self.unit.signature.arguments[parameter.name]
        name, span = parameter.name, parameter.span
        if isinstance(given, (StaticValue,)):
            return
        if isinstance(given, (ArrayType, PropertyArgument)):
            del self.frame.bindings[name]
            self.array(parameter, given)
            return
        t: Type = VID if given.kind in (Kind.SIGNED, Kind.UNSIGNED) and name in self.usage.vertices else given
        self.unit.names.taken.add(name)
        self.unit.params.append(ir.Param(name, t, span=span))
        self.frame.bindings[name] = Value(ir.Var(name, t, span=span), t, span, valid=t == VID)

    def array(self, parameter: s.Parameter, given: ArrayType | PropertyArgument) -> None:
        """Bind an array: a vertex property if annotated so or if no loop runs over it, else an array."""
        name, span = parameter.name, parameter.span
        if isinstance(given, PropertyArgument):
            prop = self.unit.parameter_property(name, span)
            assert prop is not None
            self.frame.bindings[name] = en.PropertyRef(prop, span)
        elif name in self.usage.looped:
            element = VID if given.element.is_integer and name in self.usage.vertex_arrays else given.element
            self.unit.names.taken.add(name)
            prop = ir.Property(name, element, ir.Site.ARRAY, ir.Origin.PARAM, span=span)
            self.unit.arrays_looped[name] = span
            self.unit.properties[name] = prop
            self.frame.bindings[name] = en.ArrayRef(prop, span)
        else:
            prop = ir.Property(name, given.element, ir.Site.VERTEX, ir.Origin.PARAM, span=span)
            self.frame.bindings[name] = en.PropertyRef(prop, span)

    # --- names and values

    def local(self, e: s.Name) -> Entity | None:
        held = self.objects.get(e.id) if not self.stack else None
        if held is not None:
            return replace(held, span=e.span)
        found = super().local(e)
        if isinstance(found, en.PropertyRef):
            self.unit.parameter_property(e.id, found.property.span or e.span)
        return found

    def vertex_index(self, e: s.Expr) -> ir.Expr:
        """A vertex that a property is indexed with: a computed number is checked when it runs."""
        v = self.value(e)
        if v.valid:
            return v.expr
        if not isinstance(v.type, Vector) and (v.type.is_integer or v.kind == VID):
            name = self.temporary("index", I64, self.fit(v, I64), e.span)
            at = ir.Var(name, I64, span=e.span)
            low = ir.Compare("<", at, ir.Const(0, I64, span=e.span), span=e.span)
            high = ir.Compare(">=", at, ir.GraphSize("num_vertices", span=e.span), span=e.span)
            out = ir.Logical("or", low, high, span=e.span)
            self.emit(ir.If(out, (ir.Fail(OUT_OF_RANGE, span=e.span),), span=e.span))
            return ir.Cast(VID, at, span=e.span)
        raise refusals.types.NotAVertex(e.span, describe(v.kind))

    def vertex_of(self, x: Value, span: Span) -> ir.Expr:
        if isinstance(x.kind, (Weak, Vector)) or not x.kind.is_integer:
            return super().vertex_of(x, span)
        return ir.Cast(VID, x.expr, span=span)

    def vertex_property(self, e: s.Attribute) -> ir.Property:
        found = self.unit.vertex_property(e.name, e.span)
        if found is None:
            return super().vertex_property(e)
        raise refusals.driver.AttributeInDriver(e.span, e.name)

    def indexed(self, e: s.Index, owner: Entity) -> Entity:
        match owner:
            case en.PropertyRef(property=prop):
                self.not_scratch(prop, e.span)
                at = self.vertex_index(e.index)
                return Value(ir.Load(prop.name, at, prop.type, span=e.span), prop.type, e.span)
            case en.GraphProperty(name=name):
                graph_prop = self.unit.graph_property(name, ir.Site.VERTEX, e.span)
                if graph_prop is None:
                    raise refusals.types.NoIndex(e.span, "a property of edges")
                at = self.vertex_index(e.index)
                return Value(
                    ir.Load(graph_prop.name, at, graph_prop.type, span=e.span), graph_prop.type, e.span
                )
            case en.ArrayRef(property=prop):
                k = self.integer(e.index, "the position in an array")
                return Value(
                    ir.Load(prop.name, k, prop.type, span=e.span), prop.type, e.span, valid=prop.type == VID
                )
        return super().indexed(e, owner)

    def graph_attribute(self, e: s.Attribute, graph: en.GraphRef) -> Entity:
        if e.name in METHODS:
            return en.Method(graph, e.name, e.span)
        found = self.size(e.name, e.span) or self.read_global(e.name, e.span)
        if found is not None:
            return found
        graph_owned = (*self.unit.signature.edge_properties, *self.unit.signature.vertex_properties)
        if e.name in graph_owned:
            return en.GraphProperty(e.name, e.span)
        known = [
            *self.unit.globals,
            *graph_owned,
            *METHODS,
            "vertices",
            "num_vertices",
            "num_edges",
            "directed",
        ]
        raise refusals.names.NoSuchGlobal(e.name_span, e.name, did_you_mean(e.name, known))

    # --- calls

    def method(self, e: s.Call, method: en.Method) -> Entity:
        if isinstance(method.owner, en.ListRef):
            raise refusals.driver.ListMethod(e.function.span, method.name)
        if method.name == "vertex_apply":
            raise refusals.driver.ReturnsNothing(e.span)
        raise refusals.driver.DeclarationInExpression(e.span, method.name)

    # --- statements

    def evaluate(self, statement: s.Evaluate) -> None:
        call = statement.value
        if isinstance(call, s.Call) and isinstance(call.function, s.Attribute):
            owner, name = call.function.value, call.function.name
            if self.is_graph(owner) and name in ("edge_apply", "vertex_apply", "vertex_filter"):
                self.apply(call, name).make("")
                return
            held = self.entity(owner) if isinstance(owner, s.Name) else None
            if isinstance(held, en.QueueRef):
                self.materialised(self.pop(call, held))
                return
            if isinstance(held, en.ListRef):
                self.list_method(call, held, name)
                return
        if isinstance(call, s.Call) and self.is_fail(call.function):
            self.fail(call)
            return
        helper = self.entity(call.function) if isinstance(call, s.Call) else None
        if (
            isinstance(helper, en.Static)
            and isinstance(helper.value, FunctionDef)
            and isinstance(call, s.Call)
        ):
            self.perform(call, helper.value)
            return
        self.entity(call)
        raise refusals.calls.UselessStatement(statement.span)

    def is_fail(self, e: s.Expr) -> bool:
        """Whether a function is vg.fail."""
        found = self.entity(e) if isinstance(e, (s.Name, s.Attribute)) else None
        return isinstance(found, en.Static) and found.value is language.fail

    def fail(self, call: s.Call) -> None:
        """`vg.fail("message")`."""
        (message,) = self.arguments(call, "vg.fail", 1)
        if not (isinstance(message, s.Literal) and isinstance(message.value, str)):
            raise refusals.driver.FailMessage(message.span)
        self.no_writes_in_helpers(call.span)
        self.emit(ir.Fail(message.value, span=call.span))

    def assign(self, statement: s.Assign, target: s.Expr) -> None:
        if isinstance(target, s.Name) and self.assign_object(statement, target):
            return
        super().assign(statement, target)

    def set_local(self, name: str, value: Value, statement: s.Stmt, span: Span) -> None:
        if name in self.objects:
            raise refusals.driver.KindChanged(span, name, en.words(self.objects[name]))
        super().set_local(name, value, statement, span)

    def augment(self, statement: s.Augment, target: s.Expr) -> None:
        if isinstance(target, s.Name) and isinstance(
            self.objects.get(target.id), (en.FrontierRef, en.ListRef)
        ):
            raise refusals.driver.FrontierArithmetic(statement.span, f"{statement.op}=")
        super().augment(statement, target)

    def assign_object(self, statement: s.Assign, target: s.Name) -> bool:
        """`x = ` a frontier, a list or a property; False for a number."""
        value = statement.value
        if isinstance(value, s.Items) and value.kind == "list":
            self.new_list(target, value)
            return True
        if (
            isinstance(value, s.Call)
            and isinstance(value.function, s.Attribute)
            and self.is_graph(value.function.value)
        ):
            if value.function.name == "vertex_property":
                self.new_property(target, value)
                return True
            if value.function.name == "scratch":
                self.new_scratch(target, value)
                return True
            if value.function.name == "priority_queue":
                self.new_queue(target, value)
                return True
            if value.function.name == "disjoint_sets":
                self.arguments(value, "graph.disjoint_sets", 0)
                prop = self.declared(target, VID, value.span, disjoint=True)
                self.emit(ir.Fill(prop.name, None, span=statement.span))
                return True
        made = self.produced(value)
        if made is not None:
            made.make(self.variable(target, "frontier"))
            return True
        return False

    def assign_other(self, statement: s.Assign, target: s.Name, found: Entity) -> None:
        if isinstance(found, en.FrontierRef):
            out = self.variable(target, "frontier")
            if out != found.name:
                self.emit(ir.FrontierCopy(out, found.name, span=statement.span))
            return
        if isinstance(found, (en.PropertyRef, en.ListRef, en.QueueRef, en.ArrayRef)):
            raise refusals.driver.Alias(statement.value.span, target.id, en.words(found))
        super().assign_other(statement, target, found)

    def new_property(self, target: s.Name, call: s.Call) -> None:
        """`x = graph.vertex_property(dtype, fill=value)`."""
        given = dict(zip(("dtype", "fill"), call.args, strict=False))
        if len(call.args) > 2:
            raise refusals.calls.WrongArity(
                call.span, "graph.vertex_property", "a type and fill=...", len(call.args)
            )
        for keyword in call.keywords:
            if keyword.name not in ("dtype", "fill"):
                hint = did_you_mean(keyword.name, ["dtype", "fill"])
                raise refusals.calls.UnexpectedKeyword(
                    keyword.span, "graph.vertex_property", keyword.name, hint
                )
            given[keyword.name] = keyword.value
        t = self.dtype(given.get("dtype"), call)
        value = self.value(given["fill"]) if "fill" in given else None
        fill = zero(t, call.span) if value is None else self.stored(value, t, f"`{target.id}`")
        prop = self.declared(target, t, call.span)
        self.emit(ir.Fill(prop.name, fill, span=call.span))

    def dtype(self, given: s.Expr | None, call: s.Call) -> Type:
        """The type that the argument of a declaration names."""
        dtype = self.entity(given) if given is not None else None
        if not isinstance(dtype, en.Static) or not isinstance(dtype.value, DType):
            at = given.span if given is not None else call.span
            raise refusals.driver.NotADtype(at, en.words(dtype) if dtype else "nothing")
        return dtype.value.type

    def new_scratch(self, target: s.Name, call: s.Call) -> None:
        """`x = graph.scratch(dtype)`."""
        (given,) = self.arguments(call, "graph.scratch", 1)
        t = self.dtype(given, call)
        if isinstance(t, Vector) or t == VID:
            raise refusals.driver.ScratchType(given.span, describe(t))
        self.declared(target, t, call.span, origin=ir.Origin.SCRATCH)

    def declared(
        self,
        target: s.Name,
        t: Type,
        span: Span,
        disjoint: bool = False,
        origin: ir.Origin = ir.Origin.LOCAL,
    ) -> ir.Property:
        """A property of the algorithm; declared again, it must have the same type, and is filled again."""
        held = self.objects.get(target.id)
        if held is None and (target.id in self.frame.assigned or target.id in self.frame.bindings):
            raise refusals.driver.KindChanged(target.span, target.id, en.words(self.entity(target)))
        if held is None:
            prop = ir.Property(
                self.names.fresh(target.id), t, ir.Site.VERTEX, origin, disjoint, span=target.span
            )
            self.unit.properties[target.id] = prop
            self.objects[target.id] = en.PropertyRef(prop, target.span)
            return prop
        if not isinstance(held, en.PropertyRef):
            raise refusals.driver.KindChanged(target.span, target.id, en.words(held))
        kept = held.property
        if (kept.type, kept.disjoint, kept.origin) != (t, disjoint, origin):
            raise refusals.driver.Redeclared(
                span, target.id, describe(held.property.type), describe(t), held.property.span or span
            )
        return held.property

    def assign_attribute(self, statement: s.Assign | s.Augment, target: s.Attribute) -> None:
        if not self.is_graph(target.value):
            owner = self.entity(target.value)
            if isinstance(owner, Value) and owner.kind == VID:
                raise refusals.driver.AttributeInDriver(target.span, target.name)
            raise refusals.writes.NotAssignable(target.span)
        name = target.name
        taken = (*METHODS, "vertices", "num_vertices", "num_edges", "directed")
        if name in taken:
            raise refusals.writes.ReadOnly(target.span, f"graph.{name}", "it belongs to the graph")
        value = self.value(statement.value)
        if isinstance(statement, s.Augment):
            value = self.combine(statement.op, self.value(target), value, statement.span)
        self.unit.globals.setdefault(name, target.span)
        t = self.widen_global(name, value, target.span)
        self.emit(ir.SetGlobal(name, self.fit(value, t), span=statement.span))

    def assign_index(self, statement: s.Assign | s.Augment, target: s.Index) -> None:
        owner = self.entity(target.value)
        if not isinstance(owner, en.PropertyRef):
            if isinstance(owner, (en.GraphProperty, en.ArrayRef)):
                raise refusals.writes.ReadOnly(target.span, en.words(owner), "the algorithm did not make it")
            raise refusals.writes.NotAssignable(target.span)
        prop = owner.property
        self.not_scratch(prop, target.span)
        if prop.origin is not ir.Origin.LOCAL:
            raise refusals.writes.ReadOnly(target.span, prop.name, "it is a parameter")
        at = self.vertex_index(target.index)
        value = self.value(statement.value)
        if isinstance(statement, s.Augment):
            old = Value(ir.Load(prop.name, at, prop.type, span=target.span), prop.type, target.span)
            value = self.combine(statement.op, old, value, statement.span)
        stored = self.stored(value, prop.type, f"`{prop.name}`")
        self.emit(ir.Store(prop.name, at, stored, span=statement.span))

    def not_scratch(self, prop: ir.Property, span: Span) -> None:
        """The driver loop has no scratch memory."""
        if prop.origin is ir.Origin.SCRATCH:
            raise refusals.driver.ScratchOutside(span, prop.name)

    # --- results

    def result(self, e: s.Expr) -> None:
        """One of the values that the algorithm returns."""
        name = (
            e.id
            if isinstance(e, s.Name)
            else e.name
            if isinstance(e, s.Attribute) and self.is_graph(e.value)
            else None
        )
        if name is None:
            raise refusals.driver.UnnamedResult(e.span)
        if any(r.name == name for r in self.results):
            raise refusals.driver.ResultTwice(e.span, name)
        found = self.entity(e)
        flag = name == "converged" and isinstance(found, Value) and found.type == BOOL
        if name in RESERVED and not flag:
            raise refusals.driver.ReservedResult(e.span, name)
        match found:
            case en.PropertyRef(property=prop):
                self.not_scratch(prop, e.span)
                self.results.append(ir.Result(name, "property", prop.name, span=e.span))
            case Value():
                self.results.append(ir.Result(name, "scalar", found.expr, span=e.span))
            case _:
                raise refusals.driver.NotAResult(e.span, en.words(found))

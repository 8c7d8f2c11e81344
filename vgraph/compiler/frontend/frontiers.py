"""Frontiers and lists of frontiers in algorithms, and the applies that make them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import entities as en
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.entities import Entity
from vgraph.compiler.frontend.kinds import Value, describe
from vgraph.compiler.frontend.operators import OperatorLowering
from vgraph.compiler.frontend.scoping import APPLY
from vgraph.compiler.frontend.statements import Statements
from vgraph.compiler.frontend.statics import static_value
from vgraph.compiler.frontend.unit import Unit
from vgraph.compiler.types import I32, I64, U32, VID
from vgraph.language.decorators import OperatorDef
from vgraph.refusals.base import Refusal, did_you_mean
from vgraph.source import Span


@dataclass(frozen=True)
class FrontierMaker:
    """An expression that makes a frontier; `make(name)` emits what puts it there."""

    make: Callable[[str], None]
    span: Span


class Frontiers(Statements):
    """Lowers what is about frontiers."""

    where = "an algorithm"

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit, unit.definition, unit.names)
        self.objects: dict[str, Entity] = {}  # variables that hold frontiers, lists and properties

    @abstractmethod
    def vertex_index(self, e: s.Expr) -> ir.Expr:
        """A vertex that a property is indexed with."""

    def condition(self, e: s.Expr) -> ir.Expr:
        made = self.produced(e)
        if made is not None:
            name = self.materialised(made)
            zero_ = ir.Const(0, I64, span=e.span)
            return ir.Compare(">", ir.FrontierSize(name, span=e.span), zero_, span=e.span)
        return super().condition(e)

    def produced(self, e: s.Expr) -> FrontierMaker | None:
        """The maker behind an expression that makes a frontier, or None."""
        if isinstance(e, s.Attribute) and e.name == "vertices" and self.is_graph(e.value):
            return FrontierMaker(
                lambda out: self.emit(ir.FrontierSet(out, ir.FrontierKind.ALL, span=e.span)), e.span
            )
        if isinstance(e, s.Index):
            owner = self.entity(e.value) if isinstance(e.value, s.Name) else None
            if isinstance(owner, en.ListRef):
                return self.list_item(owner.name, e)
        if isinstance(e, s.Call) and isinstance(e.function, s.Attribute):
            owner = self.objects.get(e.function.value.id) if isinstance(e.function.value, s.Name) else None
            if isinstance(owner, en.QueueRef):
                return self.pop(e, owner)
            if not self.is_graph(e.function.value):
                return None
            match e.function.name:
                case "frontier":
                    return self.new_frontier(e)
                case "edge_apply" | "vertex_filter":
                    return self.apply(e, e.function.name)
        return None

    def pop(self, e: s.Call, queue: en.QueueRef) -> FrontierMaker:
        """`queue.pop()`."""
        assert isinstance(e.function, s.Attribute)
        if e.function.name != "pop":
            raise refusals.queues.QueueMethod(e.function.span, e.function.name)
        self.arguments(e, "pop", 0)
        return FrontierMaker(lambda out: self.emit(ir.QueuePop(out, queue.name, span=e.span)), e.span)

    def new_queue(self, target: s.Name, call: s.Call) -> None:
        """`queue = graph.priority_queue(degree)`: declared again, it must be over the same property."""
        (arg,) = self.arguments(call, "graph.priority_queue", 1)
        found = self.entity(arg)
        prop = found.property if isinstance(found, en.PropertyRef) else None
        if prop is None or prop.type not in (I32, I64, U32) or prop.origin is not ir.Origin.LOCAL:
            what = en.words(found) if prop is None else f"a property of {describe(prop.type)}"
            raise refusals.queues.NotAPriority(arg.span, what)
        held = self.objects.get(target.id)
        if held is None:
            if target.id in self.frame.assigned or target.id in self.frame.bindings:
                old = en.words(self.entity(target))
                raise refusals.driver.KindChanged(target.span, target.id, old)
            held = self.objects[target.id] = en.QueueRef(self.names.fresh(target.id), target.span)
        if not isinstance(held, en.QueueRef):
            raise refusals.driver.KindChanged(target.span, target.id, en.words(held))
        if self.unit.queues.setdefault(held.name, prop).name != prop.name:
            raise refusals.queues.OtherPriority(call.span, target.id, self.unit.queues[held.name].name)
        self.emit(ir.QueueFill(held.name, span=call.span))

    def is_graph(self, e: s.Expr) -> bool:
        """Whether an expression is `graph`."""
        return isinstance(e, s.Name) and isinstance(self.frame.bindings.get(e.id), en.GraphRef)

    def list_item(self, name: str, e: s.Index) -> FrontierMaker:
        """`levels[i]`."""
        index = self.integer(e.index, "the position in a list")
        return FrontierMaker(lambda out: self.emit(ir.ListGet(out, name, index, span=e.span)), e.span)

    def new_frontier(self, e: s.Call) -> FrontierMaker:
        """`graph.frontier()`, `graph.frontier(v)`."""
        if not e.args and not e.keywords:
            return FrontierMaker(
                lambda out: self.emit(ir.FrontierSet(out, ir.FrontierKind.EMPTY, span=e.span)), e.span
            )
        (arg,) = self.arguments(e, "graph.frontier", 1)
        try:
            vertex = self.vertex_index(arg)
        except refusals.types.NotAValue as refusal:
            raise refusals.driver.NotOneVertex(arg.span, refusal.what) from None
        return FrontierMaker(
            lambda out: self.emit(ir.FrontierSet(out, ir.FrontierKind.SINGLE, vertex, span=e.span)), e.span
        )

    def materialised(self, made: FrontierMaker) -> str:
        """Put a frontier into a variable of the compiler's own."""
        name = self.names.fresh("frontier")
        self.unit.frontiers.append(name)
        made.make(name)
        return name

    def frontier(self, e: s.Expr) -> str:
        """The variable that holds the frontier `e`."""
        made = self.produced(e)
        if made is not None:
            return self.materialised(made)
        found = self.entity(e)
        if not isinstance(found, en.FrontierRef):
            raise refusals.driver.NotAFrontier(e.span, en.words(found))
        return found.name

    def entity(self, e: s.Expr) -> Entity:
        made = self.produced(e)
        if made is not None:
            return en.FrontierRef(self.materialised(made), e.span)
        return super().entity(e)

    def binary(self, e: s.Binary) -> Entity:
        for side in (e.left, e.right):
            held = self.objects.get(side.id) if isinstance(side, s.Name) else None
            if isinstance(held, (en.FrontierRef, en.ListRef)):
                raise refusals.driver.FrontierArithmetic(e.span, e.op)
        return super().binary(e)

    def apply(self, e: s.Call, kind: str) -> FrontierMaker:
        """`graph.edge_apply(op, frontier, label=...)` and its siblings."""
        self.spend(e.span, APPLY)
        given = self.apply_arguments(e, kind)
        found = self.entity(given["op"]) if "op" in given else None
        if not isinstance(found, en.Static) or not isinstance(found.value, OperatorDef):
            raise refusals.driver.NotAnOperator(
                given.get("op", e).span, kind, en.words(found) if found else "nothing"
            )
        try:
            op = self.operator(found.value, kind, given["op"].span)
        except Refusal as refusal:
            if refusal.span.source is not e.span.source:
                refusal.through(e.span, f"`{found.value.name}` is applied here")
            raise
        whole = "frontier" not in given or (
            isinstance(given["frontier"], s.Literal) and given["frontier"].value is None
        )
        frontier = None if whole else self.frontier(given["frontier"])
        label = given.get("label")
        named = op.name if label is None else static_value(label, self)
        if not isinstance(named, str):
            assert label is not None
            raise refusals.driver.LabelNotLiteral(label.span)
        reverse = self.reversed(given.get("reverse"))

        def make(out: str) -> None:
            whom = op.name, frontier, out or None, named
            if kind == "edge_apply":
                self.emit(ir.EdgeApply(*whom, reverse=reverse, span=e.span))
            else:
                self.emit(ir.VertexApply(*whom, span=e.span))

        return FrontierMaker(make, e.span)

    def reversed(self, given: s.Expr | None) -> bool:
        """Whether an edge operator runs against the arcs; in an undirected graph that is the same as along them."""
        if given is None:
            return False
        known = static_value(given, self)
        if not isinstance(known, bool):
            raise refusals.driver.ReverseNotConstant(given.span)
        return known and self.unit.signature.directed

    def apply_arguments(self, e: s.Call, kind: str) -> dict[str, s.Expr]:
        """The arguments of an apply by name."""
        names = ("op", "frontier", "label", "reverse")[: 4 if kind == "edge_apply" else 3]
        if len(e.args) > 3:
            raise refusals.calls.WrongArity(
                e.span, f"graph.{kind}", "an operator, a frontier and label=...", len(e.args)
            )
        given = dict(zip(names, e.args, strict=False))
        for keyword in e.keywords:
            if keyword.name not in names or keyword.name in given:
                hint = did_you_mean(keyword.name, list(names))
                raise refusals.calls.UnexpectedKeyword(keyword.span, f"graph.{kind}", keyword.name, hint)
            given[keyword.name] = keyword.value
        return given

    def operator(self, definition: OperatorDef, kind: str, span: Span) -> ir.Operator:
        """The operator, lowered on first use."""
        if definition not in self.unit.operators:
            lowering = OperatorLowering(self.unit, definition)
            self.unit.operators[definition] = lowering.build()
            self.unit.typed[definition] = lowering.frame.typed
        op = self.unit.operators[definition]
        if op.is_edge != (kind == "edge_apply"):
            raise refusals.driver.WrongOperatorKind(span, op.name, kind, *_kinds(op))
        returns = bool(op.body) and isinstance(op.body[-1], ir.Emit)
        if returns and kind == "vertex_apply":
            raise refusals.driver.ResultIgnored(span, op.name)
        if not returns and kind == "vertex_filter":
            raise refusals.driver.FilterWithoutResult(span, op.name)
        return op

    def variable(self, target: s.Name, kind: str) -> str:
        """The IR's name of a variable that holds a frontier or a list, declared on first use."""
        held = self.objects.get(target.id)
        wanted = en.FrontierRef if kind == "frontier" else en.ListRef
        if held is None:
            if target.id in self.frame.assigned or target.id in self.frame.bindings:
                old = en.words(self.entity(target))
                raise refusals.driver.KindChanged(target.span, target.id, old)
            name = self.names.fresh(target.id)
            (self.unit.frontiers if kind == "frontier" else self.unit.lists).append(name)
            held = self.objects[target.id] = wanted(name, target.span)
        if not isinstance(held, wanted):
            raise refusals.driver.KindChanged(target.span, target.id, en.words(held))
        return held.name

    def new_list(self, target: s.Name, value: s.Items) -> None:
        """`levels = []`, `levels = [frontier]`."""
        items = [self.frontier(item) for item in value.items]
        name = self.variable(target, "list")
        self.emit(ir.ListClear(name, span=value.span))
        for item in items:
            self.emit(ir.ListAppend(name, item, span=value.span))

    def list_method(self, call: s.Call, held: en.ListRef, name: str) -> None:
        """`levels.append(frontier)`."""
        if name != "append":
            raise refusals.driver.ListMethod(call.function.span, name)
        (arg,) = self.arguments(call, "append", 1)
        self.emit(ir.ListAppend(held.name, self.frontier(arg), span=call.span))

    def array_loop(self, statement: s.For, prop: ir.Property) -> None:
        """`for s in sources:`."""
        span = statement.target.span
        name = self.names.fresh("position")
        item = ir.Load(prop.name, ir.Var(name, I64, span=span), prop.type, span=span)
        value = Value(item, prop.type, span, valid=prop.type == VID)
        if statement.target.id in self.frame.plan.names:
            body = self.loop_body(statement, value)
        else:
            local = self.loop_name(statement)
            bound = Value(ir.Var(local, prop.type, span=span), prop.type, span, value.valid)
            body = (ir.Let(local, prop.type, item, span=span), *self.loop_body(statement, bound))
        stop = ir.ArrayLength(prop.name, span=statement.iterable.span)
        self.emit(ir.For(name, _int(0, span), stop, _int(1, span), body, span=statement.span))

    def list_loop(self, statement: s.For, list_name: str, backwards: bool) -> None:
        """`for frontier in levels:`, `for frontier in reversed(levels):`."""
        span = statement.target.span
        out = self.variable(statement.target, "frontier")
        name = self.names.fresh("position")
        size = ir.ListSize(list_name, span=statement.iterable.span)
        get = ir.ListGet(out, list_name, ir.Var(name, I64, span=span), span=span)
        body = (get, *self.block(statement.body))
        start, stop, step = _int(0, span), size, _int(1, span)
        if backwards:
            last = ir.Binary("-", size, _int(1, span), span=span)
            self.emit(ir.For(name, last, _int(-1, span), _int(-1, span), body, span=statement.span))
        else:
            self.emit(ir.For(name, start, stop, step, body, span=statement.span))

    def reversed_loop(self, statement: s.For, over: Entity) -> None:
        if not isinstance(over, en.ListRef):
            super().reversed_loop(statement, over)
            return
        self.list_loop(statement, over.name, backwards=True)

    def loop_over(self, statement: s.For, over: Entity) -> None:
        match over:
            case en.ArrayRef(property=prop):
                self.array_loop(statement, prop)
            case en.ListRef(name=name):
                self.list_loop(statement, name, backwards=False)
            case en.FrontierRef():
                raise refusals.calls.NotIterable(
                    statement.iterable.span,
                    "a frontier",
                    "; visit its vertices with graph.vertex_apply(op, frontier)",
                )
            case _:
                super().loop_over(statement, over)


def _int(value: int, span: Span) -> ir.Const:
    return ir.Const(value, I64, span=span)


def _kinds(op: ir.Operator) -> tuple[str, str]:
    """What an operator is, and how it is applied."""
    return (
        ("an edge operator", "graph.edge_apply")
        if op.is_edge
        else ("a vertex operator", "graph.vertex_apply")
    )

"""Lowering of the statements that operators and algorithms share: local variables, branches and loops."""

from __future__ import annotations

import builtins
from abc import abstractmethod

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import entities as en
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.access import some
from vgraph.compiler.frontend.calls import Calls
from vgraph.compiler.frontend.entities import Entity
from vgraph.compiler.frontend.kinds import Value, Weak, default, describe, merge, settled
from vgraph.compiler.types import BOOL, EID, I64, VID, Kind, Type, Vector, element_of
from vgraph.source import Span

_ACCUMULATING = {"+": "+", "-": "+", "*": "*", "|": "|", "&": "&"}


class Statements(Calls):
    """Lowers statements."""

    # --- what the two kinds of functions do in their own way

    @abstractmethod
    def assign_attribute(self, statement: s.Assign | s.Augment, target: s.Attribute) -> None:
        """`owner.name = e` or `op=`."""

    @abstractmethod
    def assign_index(self, statement: s.Assign | s.Augment, target: s.Index) -> None:
        """`owner[i] = e` or `op=`."""

    def assign_other(self, statement: s.Assign, target: s.Name, found: Entity) -> None:
        """`x = ` something that is no number."""
        raise refusals.types.NotAVariable(statement.value.span, en.words(found))

    def evaluate(self, statement: s.Evaluate) -> None:
        """An expression as a statement."""
        raise refusals.calls.UselessStatement(statement.span)

    def loop_over(self, statement: s.For, over: Entity) -> None:
        """A loop over something other than a range."""
        raise refusals.calls.NotIterable(statement.iterable.span, en.words(over), "")

    # --- statements

    def block(self, body: s.Body) -> ir.Body:
        """The statements of a nested body."""
        return self.apart(lambda: self.body(body))[0]

    def body(self, body: s.Body) -> None:
        """Lower statement after statement."""
        for position, statement in enumerate(body):
            self.statement(statement)
            if isinstance(statement, (s.Return, s.Break, s.Continue)) and position + 1 < len(body):
                raise refusals.calls.AfterReturn(body[position + 1].span)

    def statement(self, statement: s.Stmt) -> None:
        """Lower one statement."""
        self.unit.at = statement.span
        self.zeros(statement)
        match statement:
            case s.Assign(target=target):
                self.assign(statement, target)
            case s.Augment(target=target):
                self.augment(statement, target)
            case s.Evaluate(value=s.Literal()) | s.Pass():
                return
            case s.Evaluate():
                self.evaluate(statement)
            case s.If():
                self.branch(statement)
            case s.While():
                self.while_loop(statement)
            case s.For():
                self.for_loop(statement)
            case s.Break():
                self.emit(ir.Break(span=statement.span))
            case s.Continue():
                self.emit(ir.Continue(span=statement.span))
            case s.Return():
                raise refusals.calls.EarlyReturn(statement.span, self.where)

    def no_writes_in_helpers(self, span: Span) -> None:
        """Refuse a write inside an expression."""
        if not self.writing:
            raise refusals.writes.WriteInHelper(span, self.definition.name)

    def assign(self, statement: s.Assign, target: s.Expr) -> None:
        """`target = value`."""
        match target:
            case s.Name():
                found = self.entity(statement.value)
                if isinstance(found, Value):
                    self.set_local(target.id, found, statement, target.span)
                else:
                    self.assign_other(statement, target, found)
            case s.Attribute():
                self.no_writes_in_helpers(target.span)
                self.assign_attribute(statement, target)
            case s.Index():
                self.no_writes_in_helpers(target.span)
                self.assign_index(statement, target)
            case _:
                raise refusals.writes.NotAssignable(target.span)

    def augment(self, statement: s.Augment, target: s.Expr) -> None:
        """`target op= value`."""
        match target:
            case s.Name():
                self.augment_local(statement, target)
            case s.Attribute():
                self.no_writes_in_helpers(target.span)
                self.assign_attribute(statement, target)
            case s.Index():
                self.no_writes_in_helpers(target.span)
                self.assign_index(statement, target)
            case _:
                raise refusals.writes.NotAssignable(target.span)

    def augment_local(self, statement: s.Augment, target: s.Name) -> None:
        """`x op= e`: an accumulation where `op` is one, else an assignment."""
        if target.id in self.frame.bindings:
            raise refusals.names.ArgumentAssigned(
                target.span, target.id, en.words(self.frame.bindings[target.id])
            )
        old = self.value(target)
        change = self.value(statement.value)
        new = self.combine(statement.op, old, change, statement.span)
        t = self.widen(target.id, new, target.span)
        name, op = self.ir_name(target.id), _ACCUMULATING.get(statement.op)
        numbers = element_of(t).kind is not Kind.BOOL or statement.op in ("|", "&")
        if op is None or t != old.type or default_differs(new, t) or not numbers:
            self.emit(ir.Assign(name, self.fit(new, t), span=statement.span))
            return
        value = self.fit(change, t)
        if statement.op == "-":
            value = self.negated(change, t)
        self.emit(ir.Accumulate(op, name, value, span=statement.span))

    def negated(self, value: Value, t: Type) -> ir.Expr:
        """`-value` in type `t`."""
        if isinstance(value.expr, ir.Const) and isinstance(value.kind, Weak):
            minus = Value(
                ir.Const(-value.expr.value, value.expr.type, span=value.span), value.kind, value.span
            )
            if not element_of(t).name.startswith("u"):
                return self.fit(minus, t)
        return ir.Unary("neg", self.fit(value, t), span=value.span)

    def branch(self, statement: s.If) -> None:
        """`if`, `elif`, `else`."""
        test = self.condition(statement.test)
        then = self.block(statement.then)
        other = self.block(statement.other)
        self.emit(ir.If(test, then, other, span=statement.span))

    def while_loop(self, statement: s.While) -> None:
        """`while test:`; what the test needs first is done in every round."""
        before, test = self.apart(lambda: self.condition(statement.test))
        body = self.block(statement.body)
        if before:
            leave = ir.If(
                ir.Unary("not", test, span=statement.span),
                (ir.Break(span=statement.span),),
                span=statement.span,
            )
            test = ir.Const(True, BOOL, span=statement.span)
            body = (*before, leave, *body)
        self.emit(ir.While(test, body, span=statement.span))

    # --- loops

    def for_loop(self, statement: s.For) -> None:
        """`for x in ...:`."""
        call = statement.iterable
        if isinstance(call, s.Call):
            function = self.entity(call.function)
            if isinstance(function, en.Static) and function.value is builtins.range:
                self.range_loop(statement, call)
                return
            if isinstance(function, en.Static) and function.value is builtins.reversed:
                (arg,) = self.arguments(call, "reversed", 1)
                self.reversed_loop(statement, self.entity(arg))
                return
        over = self.entity(statement.iterable)
        match over:
            case en.Neighbors() | en.Common() if self.where == "an algorithm":
                raise refusals.driver.NeighborsInDriver(statement.iterable.span)
            case en.Neighbors():
                self.neighbor_loop(statement, over)
            case en.Common():
                self.common_loop(statement, over)
            case _:
                self.loop_over(statement, over)

    def reversed_loop(self, statement: s.For, over: Entity) -> None:
        """`for x in reversed(...):`."""
        advice = "; for a range, write range(n - 1, -1, -1)"
        raise refusals.calls.NotIterable(statement.iterable.span, f"reversed {en.words(over)}", advice)

    def range_loop(self, statement: s.For, call: s.Call) -> None:
        """`for i in range(...):`."""
        if call.keywords or not 1 <= len(call.args) <= 3:
            raise refusals.calls.WrongArity(
                call.span, "range", "one to three arguments", len(call.args) + len(call.keywords)
            )
        bounds = [self.integer(a, "a bound of range") for a in call.args]
        zero, one = ir.Const(0, I64, span=call.span), ir.Const(1, I64, span=call.span)
        start, stop, step = (zero, *bounds, one) if len(bounds) == 1 else (*bounds, one)[:3]
        name = self.loop_name(statement)
        value = Value(ir.Var(name, I64, span=statement.target.span), I64, statement.target.span)
        body = self.loop_body(statement, value)
        self.emit(ir.For(name, start, stop, step, body, span=statement.span))

    def neighbor_loop(self, statement: s.For, over: en.Neighbors) -> None:
        """`for u in v.out_neighbors:`, `for e in v.out_edges:`."""
        v = over.vertex if over.vertex.valid else self.shared(over.vertex)
        span = statement.target.span
        if over.edges:
            vertex, edge = self.names.fresh("neighbor"), self.loop_name(statement)
        else:
            vertex, edge = self.loop_name(statement), self.names.fresh("arc")
        u = Value(ir.Var(vertex, VID, span=span), VID, span, valid=True)
        bound: Entity = u
        if over.edges:
            src, dst = (v, u) if over.orientation is ir.Orientation.OUT else (u, v)
            bound = en.Edge(ir.Var(edge, EID, span=span), src, dst, span)
        body = self.loop_body(statement, bound)
        loop: ir.Stmt = ir.ForNeighbors(vertex, edge, v.expr, over.orientation, body, span=statement.span)
        self.emit(loop if v.valid else ir.If(some(v.expr, statement.span), (loop,), span=statement.span))

    def common_loop(self, statement: s.For, over: en.Common) -> None:
        """`for w in v.out_neighbors & u.out_neighbors:`."""
        sides = [n.vertex if n.vertex.valid else self.shared(n.vertex) for n in (over.left, over.right)]
        if over.left.edges or over.right.edges:
            raise refusals.calls.NotIterable(
                statement.iterable.span, "common edges", "; use out_neighbors or in_neighbors"
            )
        name = self.loop_name(statement)
        w = Value(ir.Var(name, VID, span=statement.target.span), VID, statement.target.span, valid=True)
        body = self.loop_body(statement, w)
        ways = over.left.orientation, over.right.orientation
        loop: ir.Stmt = ir.ForCommon(
            name, sides[0].expr, ways[0], sides[1].expr, ways[1], body, span=statement.span
        )
        for side in sides:
            if not side.valid:
                loop = ir.If(some(side.expr, statement.span), (loop,), span=statement.span)
        self.emit(loop)

    def loop_name(self, statement: s.For) -> str:
        """The IR's name of a loop's variable."""
        return self.names.fresh(statement.target.id)

    def loop_body(self, statement: s.For, bound: Entity) -> ir.Body:
        """The body with the loop's variable bound, or assigned if it lives on after the loop."""
        name = statement.target.id
        if name in self.frame.plan.names:
            if not isinstance(bound, Value):
                raise refusals.names.OutsideItsLoop(statement.target.span, name)
            start, _ = self.apart(lambda: self.set_local(name, bound, statement, statement.target.span))
            return (*start, *self.block(statement.body))
        if name in self.frame.bindings:
            what = en.words(self.frame.bindings[name])
            raise refusals.names.ArgumentAssigned(statement.target.span, name, what)
        self.frame.bindings[name] = bound
        try:
            return self.block(statement.body)
        finally:
            del self.frame.bindings[name]

    # --- stores

    def stored(self, value: Value, t: Type, place: str) -> ir.Expr:
        """`value` as it is stored in a place of type `t`. Refuses what would lose its meaning."""
        kind = value.kind
        source, wanted = element_of(value.type), element_of(t)
        if isinstance(value.type, Vector) and value.type != t:
            same = isinstance(t, Vector) and t.length == value.type.length
            if not same:
                raise refusals.types.LossyStore(
                    value.span, place, describe(t), describe(kind), "the shapes differ"
                )
        if wanted == VID and kind != VID:
            return self.vertex_of(value, value.span)
        if source.is_float and not wanted.is_float and kind is not Weak.INF:
            advice = f"write int({'x'}) to cut off the fraction" if wanted != BOOL else "write a comparison"
            raise refusals.types.LossyStore(value.span, place, describe(t), describe(kind), advice)
        if wanted == BOOL and source != BOOL:
            raise refusals.types.LossyStore(
                value.span, place, describe(t), describe(kind), "write a comparison, such as `x != 0`"
            )
        if kind is Weak.INF and wanted == BOOL:
            raise refusals.types.LossyStore(
                value.span, place, describe(t), describe(kind), "write True or False"
            )
        return self.fit(value, t)

    def widen_global(self, name: str, value: Value, span: Span) -> Type:
        """Let a global hold `value`, too; gives its type."""
        inference, key = self.unit.inference, ("global", name)
        state = inference.assign(key, settled(value.kind), value.valid)
        if state is None:
            old = inference.current[key].kind
            raise refusals.types.IncompatibleAssignment(
                span, f"graph.{name}", describe(old), describe(value.kind)
            )
        inference.read(key)
        return default(state.kind)

    def read_global(self, name: str, span: Span) -> Value | None:
        """`graph.name`; None if no such global was set before."""
        state = self.unit.inference.read(("global", name)) if name in self.unit.globals else None
        if state is None:
            return None
        t = default(state.kind)
        return Value(ir.GlobalVar(name, t, span=span), t, span, state.valid)

    def size(self, name: str, span: Span) -> Value | None:
        """`graph.num_vertices`, `graph.num_edges`, `graph.directed`; None for another name."""
        if name == "directed":
            return Value(ir.Const(self.unit.signature.directed, BOOL, span=span), BOOL, span)
        if name == "num_vertices":
            return Value(ir.GraphSize(name, span=span), I64, span)
        if name != "num_edges":
            return None
        if self.unit.signature.directed:
            return Value(ir.GraphSize("num_arcs", span=span), I64, span)
        return Value(self.unit.graph_param("graph.num_edges", I64, span), I64, span)


def default_differs(value: Value, t: Type) -> bool:
    """Whether a value is computed in another type than it is kept in."""
    return merge(value.kind, t) != t

"""Lowering of operators: what they may write, and how writes that meet combine."""

from __future__ import annotations

from dataclasses import replace

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import entities as en
from vgraph.compiler.frontend import reductions
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.access import invariant, some
from vgraph.compiler.frontend.entities import Entity, Place
from vgraph.compiler.frontend.kinds import Value, Weak, clamped, coerce, describe, merge
from vgraph.compiler.frontend.reductions import Guarded, Reduction
from vgraph.compiler.frontend.statements import Statements
from vgraph.compiler.frontend.typed import position_of
from vgraph.compiler.frontend.unit import Names, Unit, syntax_of
from vgraph.compiler.types import BOOL, EID, I64, VID, Kind, Vector, element_of
from vgraph.language import names as language
from vgraph.language.decorators import FunctionDef, OperatorDef
from vgraph.refusals.base import did_you_mean
from vgraph.source import Span

GRAPH = "graph"


class OperatorLowering(Statements):
    """Lowers one operator."""

    where = "an operator"

    def __init__(self, unit: Unit, definition: OperatorDef) -> None:
        super().__init__(unit, definition, Names(unit.names.taken | unit.driver_names))
        self.own: ir.Var | None = None  # dst of an edge operator, v of a vertex operator
        self.src: ir.Var | None = None
        self.reduced: dict[str, tuple[str, Span]] = {}
        self.claimed: dict[str, Span] = {}
        self.stored_own: dict[str, Span] = {}
        self.own_reads: list[tuple[str, Span]] = []
        self.spread: dict[str, str] = {}  # what `u.x += e` does to properties of other vertices
        self.claiming: ir.Expr | None = None
        self.returns = False

    @property
    def is_edge(self) -> bool:
        """True for an edge operator."""
        return self.src is not None

    def build(self) -> ir.Operator:
        """The operator in the IR."""
        text = syntax_of(self.definition)
        name = Names(o.name for o in self.unit.operators.values()).fresh(self.definition.name)
        args = self.bind(text)
        body = self.enter(text.body)
        result: s.Return | None = None
        if body and isinstance(body[-1], s.Return):
            body, result = body[:-1], body[-1]  # type: ignore[assignment]
        self.body(body)
        if result is not None and result.value is not None:
            self.emit_result(result.value)
        self.check_reads()
        return ir.Operator(name, args, tuple(self.out), span=text.span)

    def bind(self, text: s.Function) -> tuple[str, ...]:
        """Bind the parameters; gives the IR's names."""
        plain = [p for p in text.parameters if p.name != GRAPH]
        if len(plain) not in (1, 3) or (
            len(plain) != len(text.parameters)
            and GRAPH not in (text.parameters[0].name, text.parameters[-1].name)
        ):
            shown = ", ".join(p.name for p in text.parameters)
            raise refusals.driver.OperatorParameters(text.span, text.name, shown)
        names = tuple(self.names.fresh(p.name) for p in plain)
        for p in text.parameters:
            if p.name == GRAPH:
                self.frame.bindings[p.name] = en.GraphRef(p.span)
        if len(plain) == 1:
            self.own = ir.Var(names[0], VID, span=plain[0].span)
            self.spread = reductions.at_others(text.body, plain[0].name)
            self.frame.bindings[plain[0].name] = Value(self.own, VID, plain[0].span, valid=True)
            return names
        self.src = ir.Var(names[0], VID, span=plain[0].span)
        self.own = ir.Var(names[2], VID, span=plain[2].span)
        src = Value(self.src, VID, plain[0].span, valid=True)
        dst = Value(self.own, VID, plain[2].span, valid=True)
        arc = ir.Var(names[1], EID, span=plain[1].span)
        edge = en.Edge(arc, src, dst, plain[1].span)
        bound: tuple[Entity, ...] = (src, edge, dst)
        self.frame.bindings.update(zip((p.name for p in plain), bound, strict=True))
        return names

    def emit_result(self, e: s.Expr) -> None:
        """`return <bool>` of a filter."""
        if self.is_edge:
            raise refusals.driver.EdgeOperatorReturns(e.span, self.definition.name)
        self.emit(ir.Emit(self.condition(e), span=e.span))
        self.returns = True

    # --- reads

    def set_local(self, name: str, value: Value, statement: s.Stmt, span: Span) -> None:
        """A variable that only ever is the operator's own vertex is another name of it."""
        once = name in self.frame.plan.once and id(statement) in self.frame.plan.declares
        if not (once and value.expr == self.own):
            super().set_local(name, value, statement, span)
            return
        self.frame.typed.names.add(position_of(span))
        self.frame.typed.kinds[position_of(span)] = VID
        self.frame.bindings[name] = value

    def vertex_property(self, e: s.Attribute) -> ir.Property:
        prop = super().vertex_property(e)
        if prop.origin is ir.Origin.SCRATCH and self.is_edge:
            raise refusals.driver.ScratchOutside(e.span, e.name)
        return prop

    def load(self, prop: ir.Property, v: Value, span: Span) -> Value:
        if v.expr == self.own and prop.origin is not ir.Origin.SCRATCH:
            self.own_reads.append((prop.name, span))
        return super().load(prop, v, span)

    def check_reads(self) -> None:
        """Refuse reads of the own vertex that see some of the round's writes and not others."""
        for name, span in self.own_reads:
            if name in self.reduced:
                op, write = self.reduced[name]
                raise refusals.writes.ReadsWhatItReduces(span, name, op, write)
            if name in self.claimed and self.is_edge:
                raise refusals.writes.ReadsWhatItClaims(span, name, self.claimed[name])

    def numbered(self, x: Value, span: Span) -> Value:
        number = self.shared(Value(coerce(Value(x.expr, x.type, span), I64), I64, span)).expr
        low = ir.Compare(">=", number, ir.Const(0, I64, span=span), span=span)
        high = ir.Compare("<", number, ir.GraphSize("num_vertices", span=span), span=span)
        inside = ir.Logical("and", low, high, span=span)
        vertex = ir.Select(inside, ir.Cast(VID, number, span=span), ir.Const(-1, VID, span=span), span=span)
        return Value(vertex, VID, span)

    def graph_attribute(self, e: s.Attribute, graph: en.GraphRef) -> Entity:
        found = self.size(e.name, e.span) or self.read_global(e.name, e.span)
        if found is not None:
            return found
        if e.name in (
            "edge_apply",
            "vertex_apply",
            "vertex_filter",
            "frontier",
            "vertex_property",
            "vertices",
        ):
            raise refusals.driver.AppliesInOperator(e.span, e.name)
        if e.name in self.unit.signature.edge_properties or e.name in self.unit.signature.vertex_properties:
            return en.GraphProperty(e.name, e.span)
        known = [*self.unit.globals, "num_vertices", "num_edges", "directed"]
        raise refusals.names.NoSuchGlobal(e.name_span, e.name, did_you_mean(e.name, known))

    def method(self, e: s.Call, method: en.Method) -> Entity:
        raise refusals.driver.AppliesInOperator(e.span, method.name)

    # --- writes

    def place(self, target: s.Attribute) -> Place:
        """What `target` names as something to write to."""
        owner = self.entity(target.value)
        match owner:
            case en.GraphRef():
                found = self.read_global(target.name, target.span)
                if found is None:
                    if self.size(target.name, target.span) is not None:
                        raise refusals.writes.ReadOnly(
                            target.span, f"graph.{target.name}", "it belongs to the graph"
                        )
                    raise refusals.names.NoSuchGlobal(
                        target.name_span, target.name, did_you_mean(target.name, list(self.unit.globals))
                    )
                return Place(target.name, found.type, target.span)
            case en.Edge():
                raise refusals.writes.WriteToEdge(target.span)
            case Value(kind=kind) if kind == VID:
                return self.vertex_place(target, owner)
        raise refusals.writes.NotAssignable(target.span)

    def vertex_place(self, target: s.Attribute, owner: Value) -> Place:
        """`u.x` as something to write to."""
        if self.is_edge and owner.expr != self.own:
            if owner.expr == self.src:
                raise refusals.writes.WriteToSource(target.span, target.name)
            raise refusals.writes.WriteElsewhere(target.span)
        if target.name == "id" or target.name.endswith(("degree", "neighbors", "_edges")):
            raise refusals.writes.ReadOnly(target.span, target.name, "it belongs to the graph")
        prop = self.vertex_property(target)
        if prop.origin is ir.Origin.SCRATCH:
            return Place(prop.name, prop.type, target.span, prop, owner)
        if prop.origin is not ir.Origin.LOCAL:
            what = "a property of the graph" if prop.origin is ir.Origin.GRAPH else "a parameter"
            raise refusals.writes.ReadOnly(target.span, target.name, f"it is {what}")
        if prop.disjoint:
            raise refusals.writes.DisjointSets(target.span, target.name)
        return Place(prop.name, prop.type, target.span, prop, owner)

    def is_own(self, place: Place) -> bool:
        """Whether only this visit of a vertex operator writes the place."""
        return not self.is_edge and place.vertex is not None and place.vertex.expr == self.own

    def is_shared(self, statement: s.Assign | s.Augment, target: s.Attribute) -> bool:
        """Whether `v.x += e` meets `u.x += e` of other visits: it is the same reduction then."""
        found = reductions.of_augment(statement) if isinstance(statement, s.Augment) else None
        return found is not None and self.spread.get(target.name) == found.op

    def assign_attribute(self, statement: s.Assign | s.Augment, target: s.Attribute) -> None:
        place = self.place(target)
        if place.prop is not None and place.prop.origin is ir.Origin.SCRATCH:
            self.store_scratch(statement, target, place)
            return
        if self.is_own(place) and not self.is_shared(statement, target):
            self.store_own(statement, target, place)
            return
        in_claim = (
            self.claiming is not None and place.vertex is not None and place.vertex.expr == self.claiming
        )
        if in_claim and isinstance(statement, s.Assign):
            self.store_claimed(statement, place)
            return
        if isinstance(statement, s.Augment):
            found = reductions.of_augment(statement)
        else:
            found = reductions.of_assign(target, statement.value, self.meaning)
            if found is not None and isinstance(statement.value, s.Literal) and place.type != BOOL:
                found = None
        if found is None:
            op = f" `{statement.op}=`" if isinstance(statement, s.Augment) else " plain"
            kind = (
                refusals.writes.NotAReduction if place.prop is not None else refusals.writes.GlobalNotReduced
            )
            raise kind(statement.span, place.text, op)
        self.frame.typed.reductions[position_of(statement.span)] = found.op
        self.reduce(place, found, statement.span)
        for read in s.walk(statement.value):
            if read == target:
                self.frame.typed.again(target, read)

    def assign_index(self, statement: s.Assign | s.Augment, target: s.Index) -> None:
        if isinstance(target.value, s.Attribute):
            raise refusals.writes.ElementWrite(target.span)
        raise refusals.writes.NotAssignable(target.span)

    def store_own(self, statement: s.Assign | s.Augment, target: s.Attribute, place: Place) -> None:
        """A vertex operator writes its own vertex."""
        value = self.value(statement.value)
        if isinstance(statement, s.Augment):
            value = self.combine(statement.op, self.value(target), value, statement.span)
        self.stored_own[place.name] = statement.span
        if place.name in self.reduced:
            raise refusals.writes.MixedWrites(statement.span, place.name, self.reduced[place.name][1])
        assert self.own is not None
        stored = self.stored(value, place.type, place.text)
        self.emit(ir.Store(place.name, self.own, stored, span=statement.span))

    def store_scratch(self, statement: s.Assign | s.Augment, target: s.Attribute, place: Place) -> None:
        """A write that only this visit sees."""
        value = self.value(statement.value)
        if isinstance(statement, s.Augment):
            value = self.combine(statement.op, self.value(target), value, statement.span)
        assert place.vertex is not None
        at = place.vertex if place.vertex.valid else self.shared(place.vertex)
        stored = self.stored(value, place.type, place.text)
        write: ir.Stmt = ir.ScratchStore(place.name, at.expr, stored, span=statement.span)
        self.emit(write if at.valid else ir.If(some(at.expr, statement.span), (write,), span=statement.span))

    def store_claimed(self, statement: s.Assign, place: Place) -> None:
        """A further store of the one that claimed."""
        self.note_claim(place, statement.span)
        stored = self.stored(self.value(statement.value), place.type, place.text)
        assert self.claiming is not None
        self.emit(ir.Store(place.name, self.claiming, stored, span=statement.span))

    def reduce(self, place: Place, found: Reduction, span: Span, *, tested: bool = False) -> None:
        """Emit a reduction; `tested`: one that a comparison decides, which is false for NaN."""
        self.check_operation(place, found.op, span)
        values = [self.value(v) if place.type != BOOL else self.truth_value(v) for v in found.values]
        for value in values if place.prop is None else ():
            place = Place(place.name, self.widen_global(place.name, value, span), place.span)
        stored = self.combined(place, found, values, span)
        if place.prop is None:
            whole = ir.ReduceGlobal(found.op, place.name, stored, span=span)
            self.emit(_unless_nan(whole) if tested else whole)
            return
        self.note_reduction(place, found.op, span)
        assert place.vertex is not None
        at = place.vertex if place.vertex.valid else self.shared(place.vertex)
        made = ir.Reduce(found.op, place.name, at.expr, stored, span=span)
        write = _unless_nan(made) if tested else made
        self.emit(write if at.valid else ir.If(some(at.expr, span), (write,), span=span))

    def combined(self, place: Place, found: Reduction, values: list[Value], span: Span) -> ir.Expr:
        """The values that go into a place as one, in the place's type: sums wrap there, extremes are clamped to it."""
        if found.op in ("min", "max"):
            value = values[0]
            for more in values[1:]:
                value = self.smaller(found.op, value, more, span)
            if not (isinstance(value.kind, Weak) and isinstance(value.expr, ir.Const)):
                within = clamped(value.expr, place.type, self.unit.signature.target)
                value = replace(value, expr=within)
            return self.stored(value, place.type, place.text)
        whole: ir.Expr | None = None
        for value, negative in zip(values, found.negative + (False,) * len(values), strict=False):
            part = self.stored(value, place.type, place.text)
            if whole is not None:
                whole = ir.Binary("-" if negative else found.op, whole, part, span=span)
            else:
                whole = self.negated(value, place.type) if negative else part
        assert whole is not None
        return whole

    def truth_value(self, e: s.Expr) -> Value:
        """A bool operand of a reduction of bools."""
        return Value(self.condition(e), BOOL, e.span)

    def check_operation(self, place: Place, op: str, span: Span) -> None:
        """Whether values of the place's type combine by `op`."""
        kind = element_of(place.type).kind
        bits = op in ("|", "&")
        ok = kind is not Kind.FLOAT and kind is not Kind.INDEX if bits else kind is not Kind.BOOL
        if not bits and op in ("+", "*"):
            ok = kind not in (Kind.BOOL, Kind.INDEX)
        if not ok:
            raise refusals.types.BadReduction(span, op, describe(place.type))

    def note_reduction(self, place: Place, op: str, span: Span) -> None:
        """Remember a reduction; two of different kinds on one property depend on their order."""
        before = self.reduced.setdefault(place.name, (op, span))
        if before[0] != op:
            raise refusals.writes.MixedWrites(span, place.name, before[1])
        for others in (self.claimed, self.stored_own):
            if place.name in others:
                raise refusals.writes.MixedWrites(span, place.name, others[place.name])

    def note_claim(self, place: Place, span: Span) -> None:
        """Remember a claim."""
        self.claimed.setdefault(place.name, span)
        if place.name in self.reduced:
            raise refusals.writes.MixedWrites(span, place.name, self.reduced[place.name][1])

    def meaning(self, e: s.Expr) -> object:
        """The Python object that an expression stands for."""
        found = self.apart(lambda: self.entity(e))[1] if isinstance(e, (s.Name, s.Attribute)) else None
        return found.value if isinstance(found, en.Static) else None

    # --- guarded writes

    def branch(self, statement: s.If) -> None:
        guarded = reductions.of_if(statement, self.needs_reduction) if self.writing else None
        if guarded is None:
            super().branch(statement)
            return
        if statement.other:
            raise refusals.writes.ElseOfUpdate(statement.other[0].span, guarded.place.span)
        guards, test = self.apart(lambda: self.guard(guarded.guards, statement.span))
        body, _ = self.apart(lambda: self.guarded_write(statement, guarded))
        for g in guards:
            self.emit(g)
        if test is None:
            for b in body:
                self.emit(b)
        else:
            self.emit(ir.If(test, body, span=statement.span))

    def needs_reduction(self, e: s.Expr) -> bool:
        """Whether a write to `e` may meet another one."""
        if not isinstance(e, s.Attribute):
            return False
        owner = self.apart(lambda: self.entity(e.value))[1]
        if isinstance(owner, en.GraphRef):
            return e.name in self.unit.globals
        known = self.unit.properties.get(e.name)
        if known is not None and known.origin is ir.Origin.SCRATCH:
            return False
        return isinstance(owner, Value) and owner.kind == VID and (self.is_edge or owner.expr != self.own)

    def guard(self, guards: tuple[s.Expr, ...], span: Span) -> ir.Expr | None:
        """The conjunction of the conditions that are not about the place."""
        if not guards:
            return None
        return self.condition(guards[0] if len(guards) == 1 else s.Bool(span, "and", guards))

    def guarded_write(self, statement: s.If, guarded: Guarded) -> None:
        """`if e < x: x = e`, or a claim."""
        place = self.place(guarded.place)
        if guarded.op == "==":
            self.claim(statement, guarded, place)
            return
        assert guarded.other is not None
        (write, *more) = [x for x in statement.then if not isinstance(x, s.Pass)]
        if more:
            raise refusals.writes.DependentWrites(more[0].span, place.text)
        if not (isinstance(write, s.Assign) and write.value == guarded.other):
            raise refusals.writes.GuardMismatch(write.span, place.text)
        reduction = Reduction("min" if guarded.op in (">", ">=") else "max", (guarded.other,))
        self.frame.typed.reductions[position_of(write.span)] = reduction.op
        self.reduce(place, reduction, statement.span, tested=True)
        self.frame.typed.again(guarded.place, write.target)
        self.frame.typed.again(guarded.other, write.value)

    def claim(self, statement: s.If, guarded: Guarded, place: Place) -> None:
        """`if x == c: x = e; ...`."""
        if place.prop is None or place.vertex is None:
            raise refusals.writes.GlobalNotReduced(statement.span, place.text, " claiming")
        if isinstance(place.type, Vector):
            raise refusals.writes.VectorClaim(statement.span, place.text)
        expected, held = self.expected(guarded, place)
        self.frame.typed.claims.add(position_of(guarded.place.span))
        at = place.vertex if place.vertex.valid else self.shared(place.vertex)
        position = next(
            i for i, x in enumerate(statement.then) if isinstance(x, s.Assign) and x.target == guarded.place
        )
        before = self.block(statement.then[:position])
        write = statement.then[position]
        assert isinstance(write, s.Assign)
        value = self.stored(self.value(write.value), place.type, place.text)
        self.note_claim(place, write.span)
        outer, self.claiming = self.claiming, at.expr
        body = self.block(statement.then[position + 1 :])
        self.claiming = outer
        self.frame.typed.again(guarded.place, write.target)
        made: ir.Stmt = ir.Claim(place.name, at.expr, expected, value, body, span=statement.span)
        if before:
            present = ir.Load(place.name, at.expr, place.type, span=guarded.place.span)
            test = ir.Compare("==", present, expected, span=statement.test.span)
            made = ir.If(test, (*before, made), span=statement.span)
        if held is not None:
            made = ir.If(held, (made,), span=statement.span)
        self.emit(made if at.valid else ir.If(some(at.expr, statement.span), (made,), span=statement.span))

    def expected(self, guarded: Guarded, place: Place) -> tuple[ir.Expr, ir.Expr | None]:
        """What a claim compares with, in the place's type; and a test for whether that type holds it, if it may not."""
        span = guarded.place.span
        if guarded.other is None:
            if place.type != BOOL:
                raise refusals.types.NotABool(span, describe(place.type), "compare it: `x == 0`")
            return ir.Const(False, BOOL, span=span), None
        other = self.value(guarded.other)
        expected = self.stored(other, place.type, place.text)
        if not invariant(expected):
            raise refusals.writes.ClaimFromVariable(guarded.other.span, place.text)
        if merge(place.type, other.kind) == place.type:
            return expected, None
        return expected, self.comparison("==", Value(expected, place.type, other.span), other, span)

    # --- calls as statements

    def evaluate(self, statement: s.Evaluate) -> None:
        call = statement.value
        if isinstance(call, s.Call) and self.meaning(call.function) is language.union:
            self.no_writes_in_helpers(statement.span)
            self.union(call)
            return
        helper = self.meaning(call.function) if isinstance(call, s.Call) else None
        if isinstance(helper, FunctionDef) and isinstance(call, s.Call):
            self.perform(call, helper)
            return
        self.entity(call)
        raise refusals.calls.UselessStatement(statement.span)

    def union(self, call: s.Call) -> None:
        """`vg.union(a.component, b.component)`."""
        vertices, props = [], []
        for arg in self.arguments(call, "vg.union", 2):
            owner = self.entity(arg.value) if isinstance(arg, s.Attribute) else None
            if not (isinstance(arg, s.Attribute) and isinstance(owner, Value) and owner.kind == VID):
                raise refusals.writes.BadUnion(arg.span)
            prop = self.vertex_property(arg)
            if not prop.disjoint:
                raise refusals.writes.BadUnion(arg.span)
            vertices.append(owner if owner.valid else self.shared(owner))
            props.append(prop)
        if props[0] != props[1]:
            raise refusals.writes.BadUnion(call.span)
        a, b = vertices
        made: ir.Stmt = ir.Union(props[0].name, a.expr, b.expr, span=call.span)
        for v in vertices:
            if not v.valid:
                made = ir.If(some(v.expr, call.span), (made,), span=call.span)
        self.emit(made)


def _unless_nan(made: ir.Reduce | ir.ReduceGlobal) -> ir.Stmt:
    """A comparison with NaN is false, so `if e < x: x = e` leaves x alone, unlike `x = min(x, e)`."""
    if element_of(made.value.type).is_float:
        return ir.If(ir.Compare("==", made.value, made.value, span=made.span), (made,), span=made.span)
    return made

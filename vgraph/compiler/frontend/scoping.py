"""Where a function's statements go and what its names mean: the ground that all lowering stands on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import entities as en
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.entities import Entity
from vgraph.compiler.frontend.kinds import Value, default, describe, settled, zero
from vgraph.compiler.frontend.scope import Plan, plan
from vgraph.compiler.frontend.statics import prune
from vgraph.compiler.frontend.typed import Typed, position_of
from vgraph.compiler.frontend.unit import Names, Unit
from vgraph.compiler.types import VID, Type
from vgraph.language.decorators import Definition, FunctionDef
from vgraph.refusals.base import Refusal, did_you_mean
from vgraph.source import Span

_T = TypeVar("_T")

BUDGET: Final = 60_000
"""Operations of a program, helpers inlined: up to half a minute of compiling. The longest of the library has 500."""
APPLY: Final = 300
"""Operations that an apply counts for: its loops, in both directions, take as long to compile."""


@dataclass
class Frame:
    """The names of one function, or of one inlined call of a helper."""

    definition: Definition
    bindings: dict[str, Entity]
    plan: Plan = field(default_factory=Plan)
    ir_names: dict[str, str] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)
    own_names: frozenset[str] = frozenset()
    serial: int = 0
    typed: Typed = field(init=False)

    def __post_init__(self) -> None:
        self.typed = Typed(self.definition)


class Scoping(ABC):
    """Names, local variables and the statements made so far."""

    where: str  # "an operator", "an algorithm", for messages

    def __init__(self, unit: Unit, definition: Definition, names: Names) -> None:
        self.unit, self.names = unit, names
        self.frame = Frame(definition, {})
        self.out: list[ir.Stmt] = []
        self.owner = id(definition)
        self.calls = 0

    @property
    def definition(self) -> Definition:
        """The function whose text is being lowered."""
        return self.frame.definition

    # --- statements

    def emit(self, statement: ir.Stmt) -> None:
        """Append a statement."""
        self.out.append(statement)

    def apart(self, build: Callable[[], _T]) -> tuple[ir.Body, _T]:
        """What `build` gives, and the statements that it emitted."""
        outer, self.out = self.out, []
        try:
            result = build()
            return tuple(self.out), result
        finally:
            self.out = outer

    def spend(self, span: Span, operations: int = 1) -> None:
        """Count operations. Raises a Refusal where they become too many."""
        self.unit.operations += operations
        if self.unit.operations > BUDGET:
            raise self.too_long(span)

    def too_long(self, span: Span) -> Refusal:
        """The refusal of a program with too many operations."""
        if isinstance(self.definition, FunctionDef):
            calls = self.unit.inlined[self.definition]
            return refusals.limits.InlinedTooOften(span, self.definition.name, calls, BUDGET)
        return refusals.limits.TooLong(span, BUDGET, APPLY)

    # --- names

    def enter(self, body: s.Body) -> s.Body:
        """Prepare the frame for a function's body: constant branches taken, declarations planned."""
        self.frame.own_names = frozenset(_assigned(body)) | self.frame.bindings.keys()
        kept = prune(body, self)
        self.frame.plan = plan(kept, set(self.frame.bindings))
        return kept

    def local(self, e: s.Name) -> Entity | None:
        """What a name of the function itself stands for; None for other names."""
        bound = self.frame.bindings.get(e.id)
        if bound is not None:
            return replace(bound, span=e.span)
        if e.id not in self.frame.plan.names:
            if e.id in self.frame.own_names:
                raise refusals.names.OutsideItsLoop(e.span, e.id)
            return None
        if e.id not in self.frame.assigned:
            raise refusals.names.UsedBeforeAssignment(e.span, e.id)
        state = self.unit.inference.read(self.key(e.id))
        if state is None:
            raise refusals.names.UsedBeforeAssignment(e.span, e.id)
        var = ir.Var(self.ir_name(e.id), default(state.kind), span=e.span)
        return Value(var, state.kind, e.span, state.valid)

    def undefined(self, e: s.Name) -> Refusal:
        """The refusal for a name that means nothing."""
        own = [*self.frame.bindings, *self.frame.assigned]
        if e.id in self.unit.driver_names and self.definition is not self.unit.definition:
            return refusals.names.AlgorithmsVariable(e.span, e.id, self.unit.definition.name)
        return refusals.names.UndefinedName(
            e.span, e.id, did_you_mean(e.id, [*own, *self.definition.visible_names()])
        )

    def ir_name(self, name: str) -> str:
        """The unique name of a local variable."""
        if name not in self.frame.ir_names:
            self.frame.ir_names[name] = self.names.fresh(name)
        return self.frame.ir_names[name]

    def key(self, name: str) -> Hashable:
        """What inference calls a local variable."""
        return self.owner, self.frame.serial, name

    # --- local variables

    @abstractmethod
    def fit(self, value: Value, to: Type) -> ir.Expr:
        """`value` in type `to`."""

    def zeros(self, statement: s.Stmt) -> None:
        """Declare the variables that must be there before `statement`."""
        for name in self.frame.plan.zeros.get(id(statement), ()):
            state = self.unit.inference.read(self.key(name))
            if state is not None:
                t = default(state.kind)
                if t == VID:  # it may still hold vg.none where it is read
                    self.unit.inference.assign(self.key(name), VID)
                self.emit(ir.Let(self.ir_name(name), t, zero(t, statement.span), span=statement.span))

    def set_local(self, name: str, value: Value, statement: s.Stmt, span: Span) -> None:
        """`name = value`, which declares the variable where the plan says so."""
        if name in self.frame.bindings:
            raise refusals.names.ArgumentAssigned(span, name, en.words(self.frame.bindings[name]))
        t = self.widen(name, value, span)
        stored = self.fit(value, t)
        if id(statement) in self.frame.plan.declares:
            self.emit(ir.Let(self.ir_name(name), t, stored, span=statement.span))
        else:
            self.emit(ir.Assign(self.ir_name(name), stored, span=statement.span))
        self.frame.assigned.add(name)

    def widen(self, name: str, value: Value, span: Span) -> Type:
        """Let a variable hold `value`, too; gives the type that it has."""
        key = self.key(name)
        state = self.unit.inference.assign(key, settled(value.kind), value.valid)
        if state is None:
            old = self.unit.inference.current[key]
            raise refusals.types.IncompatibleAssignment(span, name, describe(old.kind), describe(value.kind))
        self.unit.inference.read(key)
        self.frame.typed.kinds[position_of(span)] = state.kind
        return default(state.kind)


def _assigned(body: s.Body) -> set[str]:
    """All names that a body assigns or loops over, branches never taken included."""
    found: set[str] = set()
    for statement in body:
        match statement:
            case s.Assign(target=s.Name(id=name)) | s.Augment(target=s.Name(id=name)):
                found.add(name)
            case s.For(target=s.Name(id=name)):
                found.add(name)
        for inner in s.bodies(statement):
            found |= _assigned(inner)
    return found

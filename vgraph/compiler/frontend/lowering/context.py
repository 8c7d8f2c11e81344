"""What lowering a function goes by: the program so far, the function's names, the statements made, and the rules."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import field
from typing import Any, ClassVar, Final, TypeVar

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.entities import Entity
from vgraph.compiler.frontend.lowering.scope import Plan
from vgraph.compiler.frontend.typed import Typed
from vgraph.compiler.frontend.unit import Names, Unit
from vgraph.compiler.types import Type, Vector
from vgraph.language.decorators import Definition, FunctionDef
from vgraph.records import dataclass
from vgraph.refusals.base import Refusal
from vgraph.source import Span

_T = TypeVar("_T")

BUDGET: Final = 60_000
"""Operations of a program, helpers inlined: up to half a minute of compiling. The longest of the library has 500."""
APPLY: Final = 300
"""Operations that an apply counts for: its loops, in both directions, take as long to compile."""


@dataclass(frozen=True)
class Uses:
    """What can be done with an entity of one class; what is None is refused.

    `size` is what `len` gives, and with `truth` the entity is a condition: that its size is not 0. `backwards` is a
    loop over it in `reversed`, `combine` an operator between it and something, `contains` an `in`, `bind` is `x = ` it,
    `store` a write to an attribute of it; `no_method` refuses methods that are in no table.
    """

    attribute: Callable[[Any, s.Attribute, Any], Entity] | None = None
    index: Callable[[Any, s.Index, Any], Entity] | None = None
    size: Callable[[Any, Any, Span], ir.Expr] | None = None
    truth: bool = False
    loop: Callable[[Any, s.For, Any], None] | None = None
    backwards: Callable[[Any, s.For, Any], None] | None = None
    combine: Callable[[Any, str, Entity, Entity, Span], Entity] | None = None
    contains: Callable[[Any, Any, ir.Expr, Span], ir.Expr] | None = None
    bind: Callable[[Any, s.Assign, s.Name, Any], None] | None = None
    store: Callable[[Any, s.Assign | s.Augment, s.Attribute, Any], None] | None = None
    store_index: Callable[[Any, s.Assign | s.Augment, s.Index, Any], None] | None = None
    no_method: Callable[[Span, str], Refusal] | None = None


_NOTHING = Uses()


@dataclass(frozen=True)
class Rules:
    """What lowers each piece of the language: `expressions` and `statements` by the class of their syntax, `uses` of
    entities by their class; a call, and a loop over one, by the function that is called. Methods stand by the class of
    their owner and their name, and are given the owner, too."""

    expressions: Mapping[type[s.Expr], Callable[[Any, Any], Entity]]
    statements: Mapping[type[s.Stmt], Callable[[Any, Any], None]]
    uses: Mapping[type[Entity], Uses]
    functions: Mapping[object, Callable[..., Entity]]
    loops: Mapping[object, Callable[[Any, s.For, s.Call], None]]


def rule_for(table: Mapping[object, _T], function: Entity) -> _T | None:
    """What a table of functions has for one; None if nothing."""
    if isinstance(function, en.Method):
        return table.get((type(function.owner), function.name))
    try:
        return table.get(function.value) if isinstance(function, en.Static) else None
    except TypeError:  # not hashable
        return None


@dataclass
class Frame:
    """The names of one function, or of one inlined call of a helper."""

    definition: Definition
    typed: Typed
    bindings: dict[str, Entity] = field(default_factory=dict)
    plan: Plan = field(default_factory=Plan)
    ir_names: dict[str, str] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)
    own_names: frozenset[str] = frozenset()
    serial: int = 0
    objects: dict[str, en.Thing] = field(default_factory=dict)
    """Variables that hold frontiers, lists, queues, properties and the results of calls."""


@dataclass
class Context:
    """One function of the program that is being lowered; `frame` is that of the helper inlined at the moment."""

    unit: Unit
    rules: Rules
    function: Definition
    names: Names
    frame: Frame = field(init=False)
    out: list[ir.Stmt] = field(default_factory=list)
    top: list[ir.Stmt] = field(init=False)  # `out` outside of branches and loops
    calls: int = 0
    stack: tuple[Definition, ...] = ()
    writing: bool = True  # false in helpers that are called for their value
    arrays: dict[str, Vector] = field(default_factory=dict)  # local ones, by their names in the IR
    kept_arrays: frozenset[str] = frozenset()  # of these what a helper called for its value may not write
    array_bytes: int = 0

    where: ClassVar[str]

    def __post_init__(self) -> None:
        self.top = self.out
        self.frame = Frame(self.function, Typed(self.function))

    @property
    def definition(self) -> Definition:
        """The function whose text is being lowered."""
        return self.frame.definition

    def uses(self, entity: Entity) -> Uses:
        """What can be done with an entity."""
        return self.rules.uses.get(type(entity), _NOTHING)

    # --- statements

    def emit(self, *statements: ir.Stmt) -> None:
        """Append statements."""
        self.out += statements

    def apart(self, build: Callable[[], _T]) -> tuple[ir.Body, _T]:
        """What `build` gives, and the statements that it emitted."""
        outer, self.out = self.out, []
        try:
            result = build()
            return tuple(self.out), result
        finally:
            self.out = outer

    def only_named(self, build: Callable[[], _T]) -> _T:
        """What `build` gives, of which only the length is asked for: no property is read."""
        return build()

    def temporary(self, base: str, t: Type, value: ir.Expr, span: Span) -> str:
        """Declare a local of the compiler's own."""
        name = self.names.fresh(base)
        self.emit(ir.Let(name, t, value, span=span))
        return name

    def no_writes_in_helpers(self, span: Span) -> None:
        """Refuse a write inside an expression."""
        if not self.writing:
            raise refusals.writes.WriteInHelper(span, self.definition.name)

    def spend(self, span: Span, operations: int = 1) -> None:
        """Count operations. Raises a Refusal where they become too many."""
        self.unit.operations += operations
        if self.unit.operations > BUDGET:
            if isinstance(self.definition, FunctionDef):
                calls = self.unit.inlined[self.definition]
                raise refusals.limits.InlinedTooOften(span, self.definition.name, calls, BUDGET)
            raise refusals.limits.TooLong(span, BUDGET, APPLY)

    # --- names

    def ir_name(self, name: str) -> str:
        """The unique name of a local variable."""
        if name not in self.frame.ir_names:
            self.frame.ir_names[name] = self.names.fresh(name)
        return self.frame.ir_names[name]

    def key(self, name: str) -> Hashable:
        """What inference calls a local variable."""
        return self.function, self.frame.serial, name


@dataclass(frozen=True)
class EdgeUse:
    """An access of an algorithm's edge property: whether it writes, and `Edge.side` if no other visit comes there."""

    name: str
    writes: bool
    side: ir.Orientation | None
    span: Span


@dataclass
class OperatorContext(Context):
    """An operator: what it reads and writes, by the names of properties, with the places."""

    own: ir.Var = field(kw_only=True)  # dst of an edge operator, v of a vertex operator
    src: ir.Var | None = field(kw_only=True)
    spread: Mapping[str, str] = field(kw_only=True)  # what `u.x += e` does to properties of other vertices
    reduced: dict[str, tuple[str, Span]] = field(default_factory=dict)
    claimed: dict[str, Span] = field(default_factory=dict)
    stored_own: dict[str, Span] = field(default_factory=dict)
    own_reads: list[tuple[str, Span]] = field(default_factory=list)
    edge_uses: list[EdgeUse] = field(default_factory=list)
    claiming: ir.Expr | None = None
    exclusive: bool = False  # activations are alone with both ends of their edges, or with what they gather
    late: str = ""  # the property that is true at vertices whose visits have no room, and come again
    second: bool = False  # these visits, for which there is more room
    gathered: list[en.Gathered] = field(default_factory=list)  # what a vertex operator gathers vertices in
    written_ends: set[ir.Expr] = field(default_factory=set)  # which of them it writes

    where = "an operator"

    def only_named(self, build: Callable[[], _T]) -> _T:
        reads, uses = len(self.own_reads), len(self.edge_uses)
        found = build()
        del self.own_reads[reads:], self.edge_uses[uses:]
        return found

    @property
    def is_edge(self) -> bool:
        """True for an edge operator."""
        return self.src is not None

    def between_ends(self, edge: en.Edge) -> bool:
        """Whether an exclusive activation is alone with an edge: its own, or the opposite one."""
        return self.exclusive and {edge.src.expr, edge.dst.expr} == {self.src, self.own}


@dataclass
class Shared:
    """The last operator that was made of whole properties: `out` is the body in which it is applied, `at` where."""

    inner: OperatorContext
    operator: str
    out: list[ir.Stmt]
    at: int


@dataclass
class AlgorithmContext(Context):
    """An algorithm."""

    results: list[ir.Result] = field(default_factory=list)
    shared: Shared | None = None

    where = "an algorithm"

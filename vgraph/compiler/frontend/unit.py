"""The program under construction in one round of inference: what all functions of it share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, TypeGuard
from weakref import WeakKeyDictionary

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Inference
from vgraph.compiler.frontend.parser import parse
from vgraph.compiler.frontend.signature import (
    ArgumentType,
    ArrayType,
    EdgeConstant,
    PropertyArgument,
    Signature,
)
from vgraph.compiler.frontend.sources import reached
from vgraph.compiler.frontend.typed import Typed, TypedProgram
from vgraph.compiler.types import BOOL, EID, Type
from vgraph.graph import members
from vgraph.graph.order import EDGE_NUMBER, EDGE_REVERSE
from vgraph.language.decorators import AlgorithmDef, Definition, OperatorDef
from vgraph.records import dataclass
from vgraph.source import Span

if TYPE_CHECKING:
    from vgraph.compiler.frontend.lowering.entities import Entity, Gathered


class Names:
    """Hands out names, each once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        self._counts: dict[str, int] = {}

    def fresh(self, base: str) -> str:
        """`base`, or `base_1`, `base_2`, ... if it is taken."""
        name, count = base, self._counts.get(base, 0)
        while name in self.taken:
            count += 1
            name = f"{base}_{count}"
        self._counts[base] = count
        self.taken.add(name)
        return name


_parsed: WeakKeyDictionary[Definition, s.Function] = WeakKeyDictionary()


def syntax_of(definition: Definition) -> s.Function:
    """The syntax of a definition, parsed once for as long as it lives. Raises a Refusal or SourceError."""
    found = _parsed.get(definition)
    if found is None:
        defaults = isinstance(definition, AlgorithmDef)
        found = _parsed[definition] = parse(definition.source, defaults=defaults, prints=definition.prints)
    return found


@dataclass
class Unit:
    """One round: declarations as they are found, and the operators lowered so far."""

    definition: AlgorithmDef
    signature: Signature
    inference: Inference
    names: Names = field(default_factory=Names)
    properties: dict[str, ir.Property] = field(default_factory=dict)  # of the algorithm and its parameters
    from_graph: dict[tuple[str, ir.Site], ir.Property] = field(default_factory=dict)
    globals: dict[str, Span] = field(default_factory=dict)
    frontiers: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    queues: dict[str, ir.Property] = field(default_factory=dict)
    params: list[ir.Param] = field(default_factory=list)
    parameters: dict[str, Entity] = field(default_factory=dict)  # what the algorithm's own stand for
    operators: dict[Hashable, ir.Operator] = field(default_factory=dict)
    """By their definitions; conditions of frontiers by their names."""
    arrays: set[str] = field(default_factory=set)  # parameters that are no vertex properties
    driver_names: frozenset[str] = frozenset()
    operations: int = 0
    inlined: Counter[Definition] = field(default_factory=Counter)
    at: Span | None = None  # the statement or call that is being lowered
    typed: dict[Definition, Typed] = field(default_factory=dict)
    within: tuple[AlgorithmDef, ...] = ()
    """The algorithms that are being built, of which each calls the next; the last is `definition`."""
    called: Callable[
        [AlgorithmDef, Mapping[str, ArgumentType], Mapping[str, str], Mapping[str, int]], TypedProgram
    ] = field(kw_only=True)
    """The program of an algorithm that is called, for arguments; some are properties of edges by other names, some
    parts of lengths (`Signature.lengths`)."""
    prefixes: Names = field(default_factory=lambda: Names(("graph", "policy", "run")))
    parts: list[ir.Program] = field(default_factory=list)  # what is called, as it stands here
    kept: list[ir.Global] = field(default_factory=list)  # of what they are given and give
    gathered: dict[str, list[Gathered]] = field(default_factory=dict)
    """The local lists of operators, by their names."""
    seconds: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By the names of operators whose visits may come again, with more room: which operator that is, and the property
    that tells who does."""
    starts: dict[str, str] = field(default_factory=dict)
    """Where globals are put by before a round, ..."""
    begins: dict[str, dict[str, ir.GlobalVar]] = field(default_factory=dict)
    """... and which of them before one of an operator."""
    hooks: list[ir.Called] = field(default_factory=list)
    helpers: dict[Hashable, Typed] = field(default_factory=dict)

    @cached_property
    def operator_names(self) -> frozenset[str]:
        """The names of all operators that the algorithm reaches."""
        found = (d for d, _ in reached(self.definition) if isinstance(d, OperatorDef))
        return frozenset(d.name for d in found)

    def shared(self, helper: Typed) -> Typed:
        """What was found out about a helper, one record for all calls of which the same is known."""
        return self.helpers.setdefault(helper.content(), helper)

    def graph_property(self, name: str, site: ir.Site, span: Span) -> ir.Property | None:
        """The graph's property `name`, declared in the program on first use; None if the graph has none."""
        edge = site is ir.Site.EDGE
        types = self.signature.edge_properties if edge else self.signature.vertex_properties
        if name not in types:
            return None
        key, t = (name, site), types[name]
        if key not in self.from_graph:
            others = [p for p in (*self.from_graph.values(), *self.properties.values()) if p.name == name]
            if others:
                raise refusals.names.NameClash(span, name)
            self.from_graph[key] = ir.Property(name, t, site, ir.Origin.GRAPH, span=span)
        return self.from_graph[key]

    def parameter_property(self, name: str, span: Span) -> ir.Property | None:
        """The vertex property that a parameter of the algorithm is, if it is one."""
        argument = self.signature.arguments.get(name)
        if isinstance(argument, PropertyArgument):
            return self._declare_parameter(name, argument.type, span)
        if isinstance(argument, ArrayType) and name not in self.arrays:
            return self._declare_parameter(name, argument.element, span)
        return None

    def _declare_parameter(self, name: str, t: Type, span: Span) -> ir.Property:
        if name not in self.properties:
            self.names.taken.add(name)
            self.properties[name] = ir.Property(name, t, ir.Site.VERTEX, ir.Origin.PARAM, span=span)
        return self.properties[name]

    def members(self, name: str, span: Span) -> ir.Property:
        """The property that tells which vertices are in the array parameter `name`."""
        hidden = members.property_name(name)
        made = ir.Property(hidden, BOOL, ir.Site.VERTEX, ir.Origin.MEMBERS, span=span)
        return self.properties.setdefault(hidden, made)

    def marks(self, name: str, span: Span) -> ir.Property:
        """A property that tells which vertices are in the frontier that is returned as `name`."""
        hidden = self.names.fresh(f"{name}.result")
        made = ir.Property(hidden, BOOL, ir.Site.VERTEX, ir.Origin.LOCAL, span=span)
        return self.properties.setdefault(hidden, made)

    def vertex_property(self, name: str, span: Span) -> ir.Property | None:
        """What `v.name` reads: the algorithm's property of that name, else a parameter, else the graph's."""
        found = self.properties.get(name)
        if found is not None and found.site is ir.Site.VERTEX:
            return found
        return self.parameter_property(name, span) or self.graph_property(name, ir.Site.VERTEX, span)

    def edge_property(self, name: str, span: Span) -> ir.Property | None:
        """What `edge.name` reads: the algorithm's property of that name, else the graph's."""
        found = self.properties.get(name)
        if found is not None and found.site is ir.Site.NUMBERED:
            return found
        return self.graph_property(name, ir.Site.EDGE, span)

    def number_of(self, arc: ir.Expr) -> ir.Expr:
        """The number of an arc's edge; in a directed graph that of the arc."""
        return arc if self.signature.directed else ir.Load(EDGE_NUMBER, arc, EID, span=arc.span)

    def opposite_of(self, arc: ir.Expr, span: Span) -> ir.Expr:
        """The arc in the other direction, in a directed graph; as many as there are arcs where there is none."""
        numbers = ir.Property(EDGE_REVERSE, EID, ir.Site.EDGE, ir.Origin.GRAPH, span=span)
        self.from_graph.setdefault((EDGE_REVERSE, ir.Site.EDGE), numbers)
        return ir.Load(EDGE_REVERSE, arc, EID, span=span)

    def declare_numbers(self, span: Span) -> None:
        """Whoever has values of edges finds them by number: in an undirected graph these are a property of arcs."""
        if not self.signature.directed:
            numbers = ir.Property(EDGE_NUMBER, EID, ir.Site.EDGE, ir.Origin.GRAPH, span=span)
            self.from_graph.setdefault((EDGE_NUMBER, ir.Site.EDGE), numbers)

    def known_edge_names(self) -> list[str]:
        """The names of properties that `edge.name` may have."""
        own = (name for name, p in self.properties.items() if p.site is ir.Site.NUMBERED)
        constants = (name for name, a in self.signature.arguments.items() if isinstance(a, EdgeConstant))
        return [*own, *self.signature.edge_properties, *constants]

    def known_vertex_names(self) -> list[str]:
        """The names that `v.name` may have."""
        arrays = (
            n
            for n, a in self.signature.arguments.items()
            if isinstance(a, (ArrayType, PropertyArgument)) and n not in self.arrays
        )
        own = (name for name, p in self.properties.items() if p.site is ir.Site.VERTEX)
        return [*own, *arrays, *self.signature.vertex_properties]

    def is_param(self, e: ir.Expr) -> TypeGuard[ir.Var]:
        """Whether an expression is a parameter, or such a scalar of the graph or the run."""
        return isinstance(e, ir.Var) and any(p.name == e.name for p in self.params)

    def graph_param(self, name: str, t: Type, span: Span | None) -> ir.Var:
        """A scalar of the graph that the caller passes as one more parameter."""
        if all(p.name != name for p in self.params):
            self.params.append(ir.Param(name, t, span=span))
        return ir.Var(name, t, span=span)

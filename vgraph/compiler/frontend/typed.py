"""What the frontend finds out about the text of a program, by where it stands: the reference runs the text by it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field
from typing import Any, NamedTuple

from vgraph.compiler import ir
from vgraph.compiler.foreign.externals import External
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import ValueKind
from vgraph.compiler.frontend.signature import Signature
from vgraph.language.decorators import AlgorithmDef, Definition
from vgraph.records import dataclass
from vgraph.source import Span

Position = tuple[int, int, int, int]
"""First line and column, last line and column of a piece of text, as in `Span`."""


def position_of(span: Span) -> Position:
    """Where a span stands in its file."""
    return span.line, span.column, span.end_line, span.end_column


class TupleUpdate(NamedTuple):
    """A lexicographic minimum or maximum: `op`, the kinds of the places; `reduces`: it may meet others."""

    op: str
    kinds: tuple[ValueKind, ...]
    reduces: bool


@dataclass
class Typed:
    """One function of a program; a helper has one for each combination of types that it is called with."""

    definition: Definition
    kinds: dict[Position, ValueKind] = field(default_factory=dict)
    """What a local keeps, by the name where it is assigned; what a conditional gives; what a `return` gives."""
    calls: dict[Position, Typed | External | Part] = field(default_factory=dict)
    """The helpers, the functions of Numba's and the algorithms that are called."""
    reductions: dict[Position, str] = field(default_factory=dict)
    """The operations of assignments that reduce."""
    tuples: dict[Position, TupleUpdate] = field(default_factory=dict)
    """The assignments to several places at once."""
    names: set[Position] = field(default_factory=set)
    """Of `kinds`, those that only ever stand for one value: they may be other names of the operator's own vertex."""
    claims: set[Position] = field(default_factory=set)
    """The reads by which claims are decided: they see the value of the moment."""

    exclusive: bool = False
    """Of an edge operator: it writes both ends of its edge, one activation after the other."""

    labels: dict[Position, str] = field(default_factory=dict)
    """The labels of conditions by which a frontier is made, by the vertex before `for`."""

    def again(self, known: s.Expr, same: s.Expr) -> None:
        """What was found out about an expression holds for another of the same text, which is not looked at."""
        tables: tuple[dict[Position, Any], ...] = (self.kinds, self.calls)
        for a, b in zip(s.walk(known), s.walk(same), strict=True):
            for table in tables:
                if position_of(a.span) in table:
                    table[position_of(b.span)] = table[position_of(a.span)]

    def content(self) -> Hashable:
        """All that is known; equal for calls that need no code of their own. The calls inside are shared already."""
        calls = tuple((at, id(f)) for at, f in self.calls.items())
        marks = (
            tuple(self.reductions.items()),
            tuple(self.tuples.items()),
            frozenset(self.names),
            frozenset(self.claims),
        )
        return self.definition, tuple(self.kinds.items()), calls, marks, tuple(self.labels.items())


@dataclass(frozen=True)
class TypedProgram:
    """A program, and what was found out about the functions that it is made of."""

    program: ir.Program
    signature: Signature
    algorithm: Typed
    operators: Mapping[Definition, Typed]
    operations: int
    """How much it is to compile."""


@dataclass(frozen=True, eq=False)
class Part:
    """An algorithm that is called, and what stands before its labels."""

    definition: AlgorithmDef
    typed: TypedProgram
    prefix: str

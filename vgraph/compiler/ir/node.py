"""What every node of the IR is, and the words that nodes share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, TypeVar, dataclass_transform

from vgraph.compiler.types import Type

if TYPE_CHECKING:
    from vgraph.source import Span


_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def node(cls: type[_T]) -> type[_T]:
    """Declare an IR node: a frozen dataclass, compared by its fields, never by its span.

    Comparison, hash and repr come from `Node`: made anew for each class, they would double the time of the import.
    """
    return dataclass(frozen=True, eq=False, repr=False)(cls)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def written(form: str) -> Callable[[type[_T]], type[_T]]:
    """Declare a node with its text, fields in braces: `forms.py` says more."""

    def declare(cls: type[_T]) -> type[_T]:
        cls.form = form  # type: ignore[attr-defined]
        return node(cls)

    return declare


@node
class Node:
    """Base of everything in the IR."""

    form: ClassVar[str] = ""
    """Its text as `written` was given it; empty where `text.py` and the grammar have to say more."""
    span: Span | None = field(default=None, kw_only=True, compare=False, repr=False)

    def _parts(self) -> tuple[object, ...]:
        """What counts in a comparison: the values of all fields but the span."""
        names = _COMPARED.get(type(self))
        if names is None:
            names = _COMPARED[type(self)] = tuple(f.name for f in fields(self) if f.compare)
        values = self.__dict__
        return tuple([values[name] for name in names])

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(self) is type(other) and isinstance(other, Node) and self._parts() == other._parts()

    def __hash__(self) -> int:
        found: int | None = self.__dict__.get("_hash")
        if found is None:
            found = self.__dict__["_hash"] = hash((type(self), self._parts()))
        return found

    def __repr__(self) -> str:
        shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
        return f"{type(self).__name__}({shown})"


_COMPARED: dict[type, tuple[str, ...]] = {}


class Expr(Node):
    """A value. `type` is a field of leaves and a property, derived from the operands, elsewhere."""

    type: Type


class Stmt(Node):
    """An action."""


Body = tuple[Stmt, ...]


class Orientation(Enum):
    """Which arcs of a vertex: OUT walks the CSR from a source, IN the transpose into a destination."""

    OUT = "out"
    IN = "in"


class Site(Enum):
    """What a property belongs to; EDGE_IN is an edge property permuted into the order of the transpose, EDGE_SEGMENTS
    into that of its segments, ARRAY an array parameter of any length, indexed by i64; QUEUE (kernel level) has an
    element for each place of a queue of vertices, indexed by i64. THREAD (kernel level): a value per vertex of which
    every thread has its own copy, zero at the start; it reads and writes that alone."""

    VERTEX = "vertex"
    EDGE = "edge"
    EDGE_IN = "edge_in"
    EDGE_SEGMENTS = "edge_segments"
    ARRAY = "array"
    QUEUE = "place"
    THREAD = "thread"


class Origin(Enum):
    """Where a property's memory comes from: the graph, a parameter of the algorithm, the algorithm itself, or the
    worker that visits a vertex (SCRATCH: its own copy, all zero when a visit begins)."""

    GRAPH = "graph"
    PARAM = "param"
    LOCAL = "local"
    SCRATCH = "scratch"


class Order(Enum):
    """Memory order of one access: RELAXED where another thread may write the same place in the same loop."""

    PLAIN = "plain"
    RELAXED = "relaxed"


class Layout(Enum):
    """How a frontier is stored: a queue of vertex ids, or one bit per vertex in 64-bit words."""

    SPARSE = "sparse"
    BITMAP = "bitmap"

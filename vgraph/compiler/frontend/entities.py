"""What an expression of the user's can stand for, besides a typed value; and what a write goes to."""

from __future__ import annotations

from dataclasses import dataclass

from vgraph.compiler import ir
from vgraph.compiler.frontend.kinds import Value, describe
from vgraph.compiler.types import Type
from vgraph.language.names import DType
from vgraph.source import Span


@dataclass(eq=False, repr=False)
class Static:
    """A compile-time constant: a module, a dtype, a function, None, a string."""

    value: object
    span: Span


@dataclass(eq=False, repr=False)
class GraphRef:
    """`graph`."""

    span: Span


@dataclass(eq=False, repr=False)
class GraphProperty:
    """`graph.weight`: a property of the graph, asked for its type."""

    name: str
    span: Span


@dataclass(eq=False, repr=False)
class Edge:
    """An arc with its two ends."""

    arc: ir.Var
    src: Value
    dst: Value
    span: Span


@dataclass(eq=False, repr=False)
class Neighbors:
    """`v.out_neighbors`, or with `edges` set `v.out_edges`."""

    vertex: Value
    orientation: ir.Orientation
    edges: bool
    span: Span


@dataclass(eq=False, repr=False)
class Common:
    """`v.out_neighbors & u.out_neighbors`."""

    left: Neighbors
    right: Neighbors
    span: Span


@dataclass(eq=False, repr=False)
class PropertyRef:
    """A vertex property as a whole, in the driver loop."""

    property: ir.Property
    span: Span


@dataclass(eq=False, repr=False)
class ArrayRef:
    """An array parameter."""

    property: ir.Property
    span: Span


@dataclass(eq=False, repr=False)
class FrontierRef:
    """A frontier variable."""

    name: str
    span: Span


@dataclass(eq=False, repr=False)
class ListRef:
    """A list of frontiers."""

    name: str
    span: Span


@dataclass(eq=False, repr=False)
class QueueRef:
    """A priority queue."""

    name: str
    span: Span


@dataclass(eq=False, repr=False)
class FrontierAt:
    """`levels[i]`."""

    list: str
    index: Value
    span: Span


@dataclass(eq=False, repr=False)
class Method:
    """`graph.frontier`, `levels.append`: a method, about to be called."""

    owner: GraphRef | ListRef | QueueRef
    name: str
    span: Span


Entity = (
    Value
    | Static
    | GraphRef
    | GraphProperty
    | Edge
    | Neighbors
    | Common
    | PropertyRef
    | ArrayRef
    | FrontierRef
    | ListRef
    | QueueRef
    | FrontierAt
    | Method
)

_WORDS: dict[type, str] = {
    GraphRef: "the graph",
    GraphProperty: "a property of the graph",
    Edge: "an edge",
    Neighbors: "a set of neighbors",
    Common: "a set of common neighbors",
    PropertyRef: "a vertex property",
    ArrayRef: "an array",
    FrontierRef: "a frontier",
    FrontierAt: "a frontier",
    ListRef: "a list of frontiers",
    QueueRef: "a priority queue",
    Method: "a method",
}


def words(entity: Entity) -> str:
    """An entity in the user's words."""
    if isinstance(entity, Value):
        return describe(entity.kind)
    if isinstance(entity, Static):
        value = entity.value
        if value is None or isinstance(value, (DType, str)):
            return repr(value)
        return f"`{getattr(value, '__name__', None) or type(value).__name__}`"
    return _WORDS[type(entity)]


@dataclass(frozen=True)
class Place:
    """What a write goes to: a property at a vertex, or a global."""

    name: str
    type: Type
    span: Span
    prop: ir.Property | None = None
    vertex: Value | None = None

    @property
    def text(self) -> str:
        """The place for messages."""
        return f"`{self.span.source.line(self.span.line)[self.span.column : self.span.end_column]}`"

"""What an expression of the user's can stand for, besides a typed value; and what a write goes to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, NoReturn

from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, describe
from vgraph.compiler.types import Type
from vgraph.language.decorators import AlgorithmDef
from vgraph.language.names import DType
from vgraph.records import Record, dataclass
from vgraph.refusals.base import Refusal
from vgraph.source import Span


class Thing(Record):
    """Base of what is no typed value: what it is in the user's words, and what to write where a value was wanted."""

    words: ClassVar[str]
    advice: ClassVar[str] = "a number, a bool or a vertex is needed here"


Entity = Value | Thing


class Static(Thing):
    """A compile-time constant: a module, a dtype, a function, None, a string."""

    value: object
    span: Span


class GraphRef(Thing):
    """`graph`."""

    words = "the graph"
    span: Span


class GraphProperty(Thing):
    """`graph.weight`: a property of the graph, asked for its type."""

    words = "a property of the graph"
    advice = "it is read at an edge (edge.weight) or a vertex (v.height)"
    name: str
    span: Span


class Edge(Thing):
    """An arc with its two ends."""

    words = "an edge"
    advice = "use its parts: edge.src, edge.dst, edge.weight"
    arc: Value
    """Of type eid; not valid where there may be none."""
    src: Value
    dst: Value
    span: Span
    side: ir.Orientation | None
    """The arcs among which the visit has it to itself: those that leave or enter its own vertex, or (OUT) the one that
    an edge operator visits. None: it was reached from another vertex, or it is the opposite of one."""


class Neighbors(Thing):
    """`v.out_neighbors`, or with `edges` set `v.out_edges`."""

    words = "neighbors"
    advice = "loop over them: `for u in v.out_neighbors:`; their number is len(...) or v.out_degree"
    vertex: Value
    orientation: ir.Orientation
    edges: bool
    span: Span


class NeighborSet(Thing):
    """`v.out_neighbors & u.out_neighbors`, or with `|` or `-`."""

    words = "a set of neighbors"
    advice = "loop over it, or take its size: `len(v.out_neighbors & u.out_neighbors)`"
    op: str
    left: Neighbors | NeighborSet
    right: Neighbors | NeighborSet
    span: Span


class PropertyRef(Thing):
    """A vertex property as a whole, in the driver loop."""

    words = "a vertex property"
    advice = (
        "read one vertex with x[v], make one value of all with graph.sum(x), graph.any(x > 0), choose at each "
        "vertex with graph.where(x > 0, a, b); in operators, v.x"
    )
    property: ir.Property
    span: Span
    result: bool = False
    """Of a call: an assignment gives its values to a variable; `free`: or makes it that variable's."""
    free: bool = False


class EdgeArgumentRef(Thing):
    """A parameter that is a property of edges."""

    words = "a property of edges"
    advice = "it is read at an edge: edge.weight"
    name: str
    span: Span


class EdgePropertyRef(Thing):
    """An edge property of the algorithm as a whole, in the driver loop."""

    words = "an edge property"
    advice = "inside operators, edge.x"
    property: ir.Property
    span: Span
    result: bool = False
    free: bool = False


class ArrayRef(Thing):
    """An array parameter."""

    words = "an array"
    advice = "read an element: `table[i]`"
    property: ir.Property
    span: Span
    dimensions: int = 1


class ArrayShape(Thing):
    """`cost.shape`."""

    words = "the shape of an array"
    advice = "read one size: `cost.shape[0]`"
    array: ArrayRef
    span: Span


class FrontierRef(Thing):
    """A frontier variable."""

    words = "a frontier"
    advice = "a frontier is used by applies, as a condition, and by len(frontier)"
    name: str
    span: Span
    free: bool = False
    """Of a call, and nobody's variable: it becomes the one that it is assigned to."""


class ListRef(Thing):
    """A list of frontiers."""

    words = "a list of frontiers"
    name: str
    span: Span


class Gathered(Thing):
    """A local list of vertices: two locals, an array and how many are in it."""

    words = "a local list"
    advice = "read it by `cavity[i]`, `len(cavity)`, `u in cavity`, or loop over it"
    list: ir.Var
    count: ir.Var
    full: str
    """The global that becomes 1 where a visit has no room for what it gathers; "" if such a visit comes again."""
    span: Span


class QueueRef(Thing):
    """A priority queue."""

    words = "a priority queue"
    advice = "a priority queue is used by queue.pop(), queue.level, as a condition, and by len(queue)"
    name: str
    span: Span


class Results(Thing):
    """What a call of an algorithm gave."""

    words = "the results of a call"
    advice = "read one of them: `result.rank`"
    algorithm: AlgorithmDef
    prefix: str
    values: dict[str, Entity]
    span: Span


class Method(Thing):
    """`graph.frontier`, `levels.append`: a method, about to be called."""

    words = "a method"
    owner: GraphRef | ListRef | QueueRef | Gathered
    name: str
    span: Span


class Made(Thing):
    """What is made where it is known what for: `put` in the variable of an assignment, `done` as a statement, else
    `held`, which gives an entity, or refuses to; it also stands in for the other two."""

    held: Callable[[], Entity]
    put: Callable[[Any, s.Name], None] | None = None
    done: Callable[[], object] | None = None
    whole: Callable[[], Entity] | None = None
    """What it is where nothing stands beside it; if not yet made, it needs no more names of the function here."""


def refuse(refusal: Callable[[], Refusal]) -> Callable[[], NoReturn]:
    """For what is made in other ways only. The refusal is made when it is needed: its module is not loaded before."""

    def held() -> NoReturn:
        raise refusal()

    return held


def again(entity: Any, span: Span) -> Entity:
    """An entity where it is named again."""
    named: Entity = replace(entity, span=span)
    return named


def words(entity: Entity) -> str:
    """An entity in the user's words."""
    if isinstance(entity, Value):
        return describe(entity.kind)
    if isinstance(entity, Static):
        value = entity.value
        if value is None or isinstance(value, (DType, str)):
            return repr(value)
        return f"`{getattr(value, '__name__', None) or type(value).__name__}`"
    return entity.words


def advice(entity: Thing) -> str:
    """What to write where a value was wanted."""
    match entity:
        case Neighbors(edges=True):
            return "loop over them: `for e in v.out_edges:`"
        case Static(value=str()):
            return "text may stand in label=... and vg.fail(...) only"
        case Static(value=None):
            return "there is no None at run time; test parameters with `is None`, vertices with `== vg.none`"
    return entity.advice


@dataclass(frozen=True)
class Place:
    """What a write goes to: a property at a vertex or an edge, or a global."""

    name: str
    type: Type
    span: Span
    prop: ir.Property | None = None
    at: Value | None = None
    """The vertex, or the number of the edge."""
    alone: bool = False
    """Whether no other visit of the round comes to the edge."""
    element: ir.Expr | None = None
    """Of a vector, which is the property's type; then `type` is the element's."""

    @property
    def text(self) -> str:
        """The place for messages."""
        return f"`{self.span.text}`"

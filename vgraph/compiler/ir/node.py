"""What every node of the IR is, and the words that nodes share."""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Callable
from dataclasses import MISSING, field, fields
from enum import Enum, Flag, auto
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, TypeVar, cast, dataclass_transform

from vgraph.compiler.types import Type
from vgraph.records import dataclass, parts

if TYPE_CHECKING:
    from vgraph.source import Span


_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def node(cls: type[_T]) -> type[_T]:
    """Declare an IR node: a frozen dataclass, compared by its fields, never by its span."""
    return dataclass(frozen=True, eq=False, repr=False)(cls)


class Place(Flag):
    """Where a statement or an expression stands."""

    DRIVER = auto()  # the body of the program: at kernel level uniform code that every thread runs
    EDGE = auto()  # an edge operator
    VERTEX = auto()  # a vertex operator
    PARFOR = auto()
    SINGLE = auto()


NOWHERE = Place(0)
DRIVER, EDGE, VERTEX = Place.DRIVER, Place.EDGE, Place.VERTEX
PARFOR, SINGLE = Place.PARFOR, Place.SINGLE
OPERATOR = EDGE | VERTEX
ANYWHERE = DRIVER | OPERATOR | PARFOR | SINGLE


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def written(
    form: str, *, at: Place = ANYWHERE, kernel: Place | None = None, each: bool = False
) -> Callable[[type[_T]], type[_T]]:
    """Declare a node with its text (`forms.py` says more), and where it may stand: at all levels, or with `kernel`
    at algorithm level and at kernel level; at scheduled level in both. `each`: every thread has a part of its own."""

    def declare(cls: type[_T]) -> type[_T]:
        cls.form = form  # type: ignore[attr-defined]
        low = at if kernel is None else kernel
        cls.places = (at, at | low, low)  # type: ignore[attr-defined]
        cls.each = each  # type: ignore[attr-defined]
        return node(cls)

    return declare


@node
class Node:
    """Base of everything in the IR."""

    form: ClassVar[str] = ""
    """Its text as `written` was given it; empty where `text.py` and `text_parser.py` write it out."""
    places: ClassVar[tuple[Place, Place, Place]] = (ANYWHERE, ANYWHERE, ANYWHERE)
    """Where it may stand at algorithm, at scheduled and at kernel level."""
    each: ClassVar[bool] = False
    span: Span | None = field(default=None, kw_only=True, compare=False, repr=False)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(self) is type(other) and isinstance(other, Node) and parts(self) == parts(other)

    def __hash__(self) -> int:
        found: int | None = self.__dict__.get("_hash")
        if found is None:
            found = self.__dict__["_hash"] = hash((type(self), parts(self)))
        return found

    def __repr__(self) -> str:
        shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
        return f"{type(self).__name__}({shown})"


class Expr(Node):
    """A value. `type` is a field of leaves, and `derived` from the operands elsewhere."""

    type: Type


def derived(get: Callable[[Any], Type]) -> Type:
    """What the type of an expression follows from."""
    return cast(Type, property(get))


class Stmt(Node):
    """An action."""


# What a field holds. How it is written and read follows from what its type stands for (`forms.py`), what is checked
# of it from the name of its type (`verify.py`).

NewLocal: TypeAlias = str
"""A local that the node declares, of the type in the field `type`; the next ones are of the type in their names."""
NewVid: TypeAlias = str
NewEid: TypeAlias = str
NewI64: TypeAlias = str
Local: TypeAlias = str
"""A local that the node writes; the next one is a bool."""
BoolLocal: TypeAlias = str
ReadLocal: TypeAlias = str
GlobalName: TypeAlias = str
PropertyName: TypeAlias = str
"""A property that is not private to a visit; the next one is written at the index beside it."""
WrittenName: TypeAlias = str
ScratchName: TypeAlias = str
ArrayName: TypeAlias = str
OperatorName: TypeAlias = str
FrontierName: TypeAlias = str
ListName: TypeAlias = str
QueueName: TypeAlias = str
BucketsName: TypeAlias = str
Word: TypeAlias = str
"""A name that stands where no keyword can be meant; `Text` is always in quotes."""
Text: TypeAlias = str
ReduceOp: TypeAlias = str
Arithmetic: TypeAlias = str
Comparison: TypeAlias = str
Connective: TypeAlias = str
SizeWord: TypeAlias = str
SetOperation: TypeAlias = str

VidExpr: TypeAlias = Expr
I64Expr: TypeAlias = Expr
BoolExpr: TypeAlias = Expr
Index: TypeAlias = Expr
"""The index of the property beside it."""
Value: TypeAlias = Expr
"""A value for what the field before it names; `Reduced` is combined with what is there by the `op` beside it."""
Reduced: TypeAlias = Expr
Same: TypeAlias = Expr
"""An operand of the type of the one before it."""

KeyExpr: TypeAlias = Expr
"""An expression of the local that the declaration binds."""

Body: TypeAlias = tuple[Stmt, ...]
Else: TypeAlias = Body
"""Behind `else`: a single `if` stands there without braces."""
LoopBody: TypeAlias = Body
ParallelBody: TypeAlias = Body
SingleBody: TypeAlias = Body
AloneBody: TypeAlias = Body
ClaimedBody: TypeAlias = Body


class Orientation(Enum):
    """Which arcs of a vertex: OUT walks the CSR from a source, IN the transpose into a destination."""

    OUT = "out"
    IN = "in"


class Site(Enum):
    """What a property belongs to; EDGE_IN is an edge property permuted into the order of the transpose, EDGE_SEGMENTS
    into that of its segments. NUMBERED has an element for each edge, by its number: both arcs of an undirected edge
    share one. ARRAY is an array parameter of any length, indexed by i64, or one that the run
    makes for the driver loop to write to; QUEUE (kernel level) has an
    element for each place of a queue of vertices, indexed by i64. THREAD (kernel level): a value per vertex of which
    every thread has its own copy, zero at the start; it reads and writes that alone."""

    VERTEX = "vertex"
    EDGE = "edge"
    EDGE_IN = "edge_in"
    EDGE_SEGMENTS = "edge_segments"
    NUMBERED = "numbered"
    ARRAY = "array"
    QUEUE = "place"
    THREAD = "thread"


class Origin(Enum):
    """Where a property's memory comes from: the graph, a parameter of the algorithm, an array of vertices that is one
    (MEMBERS: whether each vertex is in it), the algorithm itself, or the worker that visits a vertex (SCRATCH: its own
    copy, all zero when a visit begins)."""

    GRAPH = "graph"
    PARAM = "param"
    MEMBERS = "members"
    LOCAL = "local"
    SCRATCH = "scratch"


class Order(Enum):
    """Memory order of one access: RELAXED where another thread may write the same place in the same loop, HELD where
    none does, as the visit has acquired it."""

    PLAIN = "plain"
    RELAXED = "relaxed"
    HELD = "held"


class Layout(Enum):
    """How a frontier is stored: a queue of vertex ids, or one bit per vertex in 64-bit words."""

    SPARSE = "sparse"
    BITMAP = "bitmap"


class Held(NamedTuple):
    """A field of a node: the name of its type, what that stands for, whether it holds many, its value at rest."""

    name: str
    type: str
    meaning: Any
    many: bool
    rest: object

    @property
    def has_nodes(self) -> bool:
        """Whether a node, or several, may stand there."""
        return self.meaning == Body or (isinstance(self.meaning, type) and issubclass(self.meaning, Node))

    @property
    def scoped(self) -> bool:
        """Whether the locals that the node declares are visible there."""
        return self.meaning == Body or self.type == "KeyExpr"


def per_class(function: Callable[[type[Any]], _T]) -> Callable[[type[Any]], _T]:
    """`function`, which is asked once for each class."""
    remembering: Any = cache(
        function
    )  # type checkers take a class with a `__hash__` for one that has no hash
    found: Callable[[type[Any]], _T] = remembering
    return found


@per_class
def fields_of(kind: type[Any]) -> tuple[Held, ...]:
    """The fields of a class but for the span, in order."""
    known = {**vars(builtins), **vars(sys.modules[kind.__module__])}
    found = []
    for f in fields(kind):
        many, word = _TYPE.match(str(f.type)).groups()  # type: ignore[union-attr]
        rest = False if word == "bool" else None if f.default is MISSING else f.default
        found.append(Held(f.name, word, known.get(word), bool(many), rest))
    return tuple(field for field in found if field.name != "span")


_TYPE = re.compile(r"(tuple\[)?(\w+)")

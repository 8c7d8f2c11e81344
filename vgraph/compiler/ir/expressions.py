"""Expressions: pure except for the order in which they read memory."""

from __future__ import annotations

from enum import Enum

from vgraph.compiler.ir.node import Expr, Order, Orientation, node, written
from vgraph.compiler.types import BOOL, I64, VID, Type, Vector


@node
class Const(Expr):
    """A literal: `3:i32`, `inf:f64`, `true`, `none` (the vid with all bits set)."""

    value: int | float | bool
    type: Type


@node
class Var(Expr):
    """A local scalar, loop variable, operator argument or parameter: `x`. Declared by what binds it."""

    name: str
    type: Type


@node
class GlobalVar(Expr):
    """A global scalar of the algorithm: `@error`. Inside a round: its value at the round's start."""

    name: str
    type: Type


@node
class Unary(Expr):
    """`neg(x)`, `not(x)` (bool), `invert(x)` (integer)."""

    op: str
    operand: Expr

    @property
    def type(self) -> Type:  # type: ignore[override]
        return self.operand.type


@node
class Binary(Expr):
    """`(a + b)`: + - * / // % ** & | ^ << >>, and `min(a, b)`, `max(a, b)`. Operands and result have one type.

    `/` is on floats only; `//` and `%` floor as in Python, and give 0 when an integer is divided by 0.
    min and max return NaN when an operand is NaN. Shifts take the count modulo the width.
    """

    op: str
    left: Expr
    right: Expr

    @property
    def type(self) -> Type:  # type: ignore[override]
        return self.left.type


@node
class Compare(Expr):
    """`(a < b)`: < <= > >= == !=; scalars only. Index types compare unsigned."""

    op: str
    left: Expr
    right: Expr

    @property
    def type(self) -> Type:  # type: ignore[override]
        return BOOL


@node
class Logical(Expr):
    """`(a and b)`, `(a or b)`: the right side is evaluated only when it is needed."""

    op: str
    left: Expr
    right: Expr

    @property
    def type(self) -> Type:  # type: ignore[override]
        return BOOL


@written("select({condition}, {then}, {other})")
class Select(Expr):
    """`select(c, a, b)`: only the chosen side is evaluated."""

    condition: Expr
    then: Expr
    other: Expr

    @property
    def type(self) -> Type:  # type: ignore[override]
        return self.then.type


@node
class Cast(Expr):
    """`cast<f64>(x)`. Float to integer truncates toward zero and saturates, NaN gives 0; integers wrap;
    to bool is `!= 0`. A scalar cast to a vector type is repeated in every element."""

    to: Type
    operand: Expr

    @property
    def type(self) -> Type:  # type: ignore[override]
        return self.to


@node
class Call(Expr):
    """A function of values, `sqrt(x)`: abs sqrt exp log floor ceil isnan isinf (element-wise where sensible),
    dot(a, b), sum(a) of vectors; `external.f.x0123(x)`, a function that somebody else compiled, named by its
    content (`externals.py`). The frontend gives the result type."""

    function: str
    args: tuple[Expr, ...]
    type: Type


@node
class Element(Expr):
    """`x[[i]]`: one element of a vector; `i` is taken modulo the length, so it is never out of range."""

    vector: Expr
    index: Expr

    @property
    def type(self) -> Type:  # type: ignore[override]
        assert isinstance(self.vector.type, Vector)
        return self.vector.type.element


@node
class Load(Expr):
    """`dist[v]`: a property read; `relaxed dist[v]` where other threads may write it at the same time."""

    prop: str
    index: Expr
    type: Type
    order: Order = Order.PLAIN


@node
class ScratchLoad(Expr):
    """`scratch count[v]`: an element of a property that is private to this visit."""

    prop: str
    index: Expr
    type: Type


@written("degree.{orientation}({vertex})")
class Degree(Expr):
    """`degree.out(v)`, as i64."""

    vertex: Expr
    orientation: Orientation
    type: Type = I64


@written("neighbor.{orientation}({vertex}, {k})")
class Neighbor(Expr):
    """`neighbor.out(v, k)`: the k-th neighbor in ascending order; undefined unless 0 <= k < degree."""

    vertex: Expr
    orientation: Orientation
    k: Expr
    type: Type = VID


@node
class GraphSize(Expr):
    """`num_vertices` or `num_arcs` of the graph, as i64."""

    what: str
    type: Type = I64


@written("size({frontier})")
class FrontierSize(Expr):
    """`size(frontier)`: how many vertices, as i64. Driver loop only."""

    frontier: str
    type: Type = I64


@written("contains({frontier}, {vertex})")
class InFrontier(Expr):
    """`contains(frontier, v)`: membership; at kernel level the frontier is in BITMAP layout."""

    frontier: str
    vertex: Expr
    type: Type = BOOL


@written("count({list})")
class ListSize(Expr):
    """`count(levels)`: frontiers in a list of frontiers, as i64. Driver loop only."""

    list: str
    type: Type = I64


class Share(Enum):
    """What an iteration of a parallel loop with `cut` may ask of its piece of the vertex's arcs."""

    SIZE = "size"
    """How many arcs it has, as i64."""
    WHOLE = "whole"
    """Whether it is all arcs of the vertex, and no other thread has any."""
    FIRST = "first"
    """True for exactly one piece of each vertex."""


@written("piece.{share}()")
class Piece(Expr):
    """`piece.size()` (i64), `piece.whole()` and `piece.first()` (bool): the piece of the innermost `parfor ... cut`."""

    share: Share

    @property
    def type(self) -> Type:  # type: ignore[override]
        return I64 if self.share is Share.SIZE else BOOL


@written("left({queue})")
class QueueSize(Expr):
    """`left(queue)`: vertices that a priority queue still holds, as i64. Driver loop only."""

    queue: str
    type: Type = I64


@written("level({queue})")
class QueueLevel(Expr):
    """`level(queue)`: the level of the last `pop`, as i64; 0 before the first. Driver loop only."""

    queue: str
    type: Type = I64


@written("bucket({buckets})")
class BucketKey(Expr):
    """`bucket(work)`: the key of the bucket under way, as i64. Kernel level."""

    buckets: str
    type: Type = I64


@written("length({array})")
class ArrayLength(Expr):
    """`length(sources)`: elements of an array parameter, as i64."""

    array: str
    type: Type = I64

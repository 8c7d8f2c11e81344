"""Expressions: pure except for the order in which they read memory."""

from __future__ import annotations

from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING

from vgraph.compiler.ir.legality import BINARY, COMPARISONS, INTEGERS, UNARY, WORDS
from vgraph.compiler.ir.node import *
from vgraph.compiler.types import (
    BOOL,
    F16,
    F32,
    I64,
    VID,
    WIDEST_WORD,
    Packed,
    Scalar,
    Type,
    Vector,
    computed,
    element_of,
    packed,
)

if TYPE_CHECKING:
    from vgraph.compiler.ir.verify import Checker


@node
class Const(Expr):
    """A literal: `3:i32`, `inf:f64`, `true`, `none` (the vid with all bits set)."""

    value: int | float | bool
    type: Type

    def verify(self, c: Checker, t: Type) -> None:
        c.require(isinstance(self.type, Scalar) and self.type != F16, "a literal is a scalar", self)
        ok = (self.type == BOOL) == isinstance(self.value, bool)
        c.require(ok, "true and false are the literals of bool", self)


@written("{name}")
class Var(Expr):
    """A local scalar, loop variable, operator argument or parameter: `x`. Declared by what binds it."""

    name: ReadLocal
    type: Type


@written("@{name}")
class GlobalVar(Expr):
    """A global scalar of the algorithm: `@error`. Inside a round: its value at the round's start."""

    name: GlobalName
    type: Type


@written("{op}({operand})")
class Unary(Expr):
    """`neg(x)`, `not(x)` (bool), `invert(x)` (integer)."""

    op: Word
    operand: Expr
    type = derived(attrgetter("operand.type"))

    def verify(self, c: Checker, t: Type) -> None:
        ok = element_of(t).kind in UNARY.get(self.op, ()) and computed(t) == t
        c.require(ok, f"{self.op} does not take {t}", self)


@written("({left} {op} {right})")
class Binary(Expr):
    """`(a + b)`: + - * / // % ** & | ^ << >>, and `min(a, b)`, `max(a, b)`. Operands and result have one type.

    `/` is on floats only; `//` and `%` floor as in Python, and give 0 when an integer is divided by 0.
    min and max return NaN when an operand is NaN. Shifts take the count modulo the width.
    """

    op: Arithmetic
    left: Expr
    right: Same
    type = derived(attrgetter("left.type"))

    def verify(self, c: Checker, t: Type) -> None:
        ok = element_of(t).kind in BINARY.get(self.op, ()) and computed(t) == t
        c.require(ok, f"{self.op} does not take {t}", self)


@written("({left} {op} {right})")
class Compare(Expr):
    """`(a < b)`: < <= > >= == !=; scalars only. Index types compare unsigned."""

    op: Comparison
    left: Expr
    right: Same
    type = BOOL

    def verify(self, c: Checker, t: Type) -> None:
        ok = self.op in COMPARISONS and not isinstance(t, Vector) and t != F16
        c.require(ok, f"{self.op} does not compare {t}", self)


@written("({left} {op} {right})")
class Logical(Expr):
    """`(a and b)`, `(a or b)`: the right side is evaluated only when it is needed."""

    op: Connective
    left: Expr
    right: Same
    type = BOOL

    def verify(self, c: Checker, t: Type) -> None:
        c.require(self.op in ("and", "or") and t == BOOL, "and, or take two bools", self)


@written("select({condition}, {then}, {other})")
class Select(Expr):
    """`select(c, a, b)`: only the chosen side is evaluated."""

    condition: BoolExpr
    then: Expr
    other: Same
    type = derived(attrgetter("then.type"))


@written("cast<{to}>({operand})")
class Cast(Expr):
    """`cast<f64>(x)`. Float to integer truncates toward zero and saturates, NaN gives 0; integers wrap;
    to bool is `!= 0`. A scalar cast to a vector type is repeated in every element. f16 is made of f32 only, rounded to
    nearest even, and becomes nothing else."""

    to: Type
    operand: Expr
    type = derived(attrgetter("to"))

    def verify(self, c: Checker, t: Type) -> None:
        ok = not isinstance(t, Vector) or (isinstance(self.to, Vector) and self.to.length == t.length)
        old, new = element_of(t), element_of(self.to)
        ok = ok and (F16 not in (old, new) or old == new or {old, new} == {F16, F32})
        c.require(ok, f"{t} cannot become {self.to}", self)


@written("{function}({args})")
class Call(Expr):
    """A function of values, `sqrt(x)`: abs sqrt exp log floor ceil popcount ctz clz isnan isinf (element-wise where
    sensible), dot(a, b), sum(a) of vectors; philox(key, low, high) of u64 (`philox.py`); `external.f.x0123(x)`, a
    function that somebody else compiled, named by its content (`externals.py`). The frontend gives the result type."""

    function: Word
    args: tuple[Expr, ...]
    type: Type

    def verify(self, c: Checker, t: Type) -> None:
        from vgraph.compiler.functions import call_type

        result = call_type(self.function, [a.type for a in self.args])
        c.require(result == self.type, f"there is no such function giving {self.type}", self)


@written("{vector}[[{index}]]")
class Element(Expr):
    """`x[[i]]`: one element of a vector; `i` is taken modulo the length, so it is never out of range."""

    vector: Expr
    index: Expr
    type = derived(lambda e: e.vector.type.element)

    def verify(self, c: Checker, t: Type) -> None:
        vector, index = self.vector.type, self.index.type
        c.require(isinstance(vector, Vector), f"{vector} has no elements", self)
        ok = isinstance(index, Scalar) and index.kind in INTEGERS
        c.require(ok, f"the index is {index}", self)


@written("pack({items})")
class Pack(Expr):
    """`pack(d, v)`: several scalars as one word. Words compare as the values do, one after the other: see
    `arithmetic.ordered` for the order of each."""

    items: tuple[Expr, ...]
    type = derived(lambda e: packed(tuple(element_of(v.type) for v in e.items)))

    def verify(self, c: Checker, t: Type) -> None:
        ok = all(isinstance(v.type, Scalar) and not isinstance(v.type, Packed) for v in self.items)
        c.require(ok, "a word is made of scalars", self)
        bits = c.subject.target.bits_of(tuple(element_of(v.type) for v in self.items))
        c.require(
            len(self.items) > 1 and bits <= WIDEST_WORD, "a word has two fields or more, in 128 bits", self
        )


@written("field.{k}({word})")
class Field(Expr):
    """`field.0(x)`: one of the values that were packed into a word."""

    word: Expr
    k: int
    type = derived(lambda e: e.word.type.fields[e.k])

    def verify(self, c: Checker, t: Type) -> None:
        word = self.word.type
        ok = isinstance(word, Packed) and 0 <= self.k < len(word.fields)
        c.require(ok, f"{word} has no field {self.k}", self)


@written("insert({vector}, {index}, {value})")
class Insert(Expr):
    """`insert(x, i, e)`: a vector like x, with e as element i, which is taken modulo the length."""

    vector: Expr
    index: Expr
    value: Expr
    type = derived(attrgetter("vector.type"))

    def verify(self, c: Checker, t: Type) -> None:
        vector, index = self.vector.type, self.index.type
        ok = isinstance(vector, Vector) and vector.element == self.value.type
        c.require(ok, f"{self.value.type} is no element of {vector}", self)
        ok = isinstance(index, Scalar) and index.kind in INTEGERS
        c.require(ok, f"the index is {index}", self)


@written("({order} )?{prop}[{index}]")
class Load(Expr):
    """`dist[v]`: a property read; `relaxed dist[v]` where other threads may write it at the same time."""

    prop: PropertyName
    index: Index
    type: Type
    order: Order = Order.PLAIN


@written("lookup {prop}[{indices}; {other}]")
class Lookup(Expr):
    """`lookup table[i; 0:i32]`, `lookup cost[i, j; 0.0:f64]`: an element of an array parameter by an index of i64 for
    each dimension. One below 0 counts from the end; where there is no such element, `other`."""

    prop: PropertyName
    indices: tuple[I64Expr, ...]
    other: Value
    type = derived(attrgetter("other.type"))

    def verify(self, c: Checker, t: Type) -> None:
        ok = c.properties[self.prop].site is Site.ARRAY and isinstance(self.other, Const)
        c.require(
            ok and len(self.indices) in (1, 2), "elements of an array are looked up, or a literal", self
        )


@written("scratch {prop}[{index}]")
class ScratchLoad(Expr):
    """`scratch count[v]`: an element of a property that is private to this visit."""

    prop: ScratchName
    index: Index
    type: Type


@written("degree.{orientation}({vertex})")
class Degree(Expr):
    """`degree.out(v)`, as i64."""

    vertex: VidExpr
    orientation: Orientation
    type: Type = I64


@written("neighbor.{orientation}({vertex}, {k})")
class Neighbor(Expr):
    """`neighbor.out(v, k)`: the k-th neighbor in ascending order; undefined unless 0 <= k < degree."""

    vertex: VidExpr
    orientation: Orientation
    k: I64Expr
    type: Type = VID


@written("adjacent.{orientation}({vertex}, {other})")
class HasNeighbor(Expr):
    """`adjacent.out(v, u)`: whether u is among the neighbors of v; `none` never is."""

    vertex: VidExpr
    orientation: Orientation
    other: VidExpr
    type: Type = BOOL


@written("{what}")
class GraphSize(Expr):
    """`num_vertices` or `num_arcs` of the graph, as i64."""

    what: SizeWord
    type: Type = I64

    def verify(self, c: Checker, t: Type) -> None:
        c.require(self.what in WORDS["SizeWord"], "there is no such size", self)


@written("size({frontier})", at=DRIVER, kernel=DRIVER | SINGLE)
class FrontierSize(Expr):
    """`size(frontier)`: how many vertices, as i64. Driver loop only."""

    frontier: FrontierName
    type: Type = I64


@written("contains({frontier}, {vertex})")
class InFrontier(Expr):
    """`contains(frontier, v)`: membership; at kernel level the frontier is in BITMAP layout."""

    frontier: FrontierName
    vertex: VidExpr
    type: Type = BOOL

    def verify(self, c: Checker, t: Type) -> None:
        c.frontier(self, self.frontier, Layout.BITMAP)


@written("count({list})", at=DRIVER, kernel=DRIVER | SINGLE)
class ListSize(Expr):
    """`count(levels)`: frontiers in a list of frontiers, as i64. Driver loop only."""

    list: ListName
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
    type = derived(lambda e: I64 if e.share is Share.SIZE else BOOL)

    def verify(self, c: Checker, t: Type) -> None:
        ok = getattr(c.around, "cut", None) is not None
        c.require(ok, "stands outside a parallel loop with pieces", self)


@written("left({queue})", at=DRIVER, kernel=DRIVER | SINGLE)
class QueueSize(Expr):
    """`left(queue)`: vertices that a priority queue still holds, as i64. Driver loop only."""

    queue: QueueName
    type: Type = I64


@written("level({queue})", at=DRIVER, kernel=DRIVER | SINGLE)
class QueueLevel(Expr):
    """`level(queue)`: the level of the last `pop`, as i64; 0 before the first. Driver loop only."""

    queue: QueueName
    type: Type = I64


@written("bucket({buckets})", at=NOWHERE, kernel=ANYWHERE)
class BucketKey(Expr):
    """`bucket(work)`: the key of the bucket under way, as i64. Kernel level."""

    buckets: BucketsName
    type: Type = I64


@written("length({array})")
class ArrayLength(Expr):
    """`length(sources)`: elements of an array parameter, as i64; rows of one with two dimensions."""

    array: ArrayName
    type: Type = I64


@written("columns({array})")
class ArrayColumns(Expr):
    """`columns(cost)`: columns of an array parameter with two dimensions, as i64."""

    array: ArrayName
    type: Type = I64

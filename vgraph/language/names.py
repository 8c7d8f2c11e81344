"""The names that a program in the language uses, as ordinary Python values.

The compiler recognises these objects by identity, whatever they are called where they are used; CPython runs them as
they are: numbers, NumPy scalars and NumPy vectors go in, and come out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from vgraph.compiler import arithmetic
from vgraph.compiler.types import (
    BOOL,
    F16,
    F32,
    F64,
    I32,
    I64,
    LONGEST_ROW,
    LONGEST_VECTOR,
    U32,
    U64,
    VID,
    Scalar,
    Type,
    Vector,
)
from vgraph.errors import AlgorithmError, DeclarationError, VGraphError, shown
from vgraph.records import dataclass
from vgraph.tracebacks import public


@dataclass(frozen=True, repr=False)
class DType:
    """A type of the language; called on a value, a cast. `type` is what the compiler calls it."""

    name: str
    type: Type

    def __repr__(self) -> str:
        return f"vg.{self.name}"

    def __call__(self, value: Any) -> Any:
        """`value` converted: floats to integers truncate and saturate, NaN gives 0; integers wrap; to bool is != 0."""
        if isinstance(self.type, Vector):
            return np.full(self.type.length, DTYPES[self.type.element.name](value))
        return cast(value, self.type)


def cast(value: Any, to: Scalar) -> Any:
    """A number (or vector) converted to scalar type `to`, as a NumPy scalar (or vector); for vid a Python int."""
    if to == VID:
        return int(value)
    dtype = np.dtype({"bool": "bool", "i32": "int32", "i64": "int64", "u32": "uint32", "u64": "uint64"}.get(
        to.name, f"float{to.bits}"))  # fmt: skip
    source = np.asarray(value)
    if to.is_integer and source.dtype.kind == "f":
        limits = np.iinfo(dtype)
        whole = np.trunc(np.nan_to_num(source.astype(np.float64), nan=0.0, posinf=math.inf, neginf=-math.inf))
        inside = np.where((whole >= limits.min) & (whole < float(limits.max)), whole, 0.0).astype(dtype)
        result = np.where(
            whole >= float(limits.max), limits.max, np.where(whole < limits.min, limits.min, inside)
        )
        return result.astype(dtype)[()]
    if isinstance(value, int) and to.is_integer:
        wrapped = value & ((1 << to.bits) - 1)
        return np.array(wrapped, f"uint{to.bits}").astype(dtype)[()]
    with np.errstate(all="ignore"):
        return source.astype(dtype)[()]


bool_ = DType("bool_", BOOL)
int32 = DType("int32", I32)
int64 = DType("int64", I64)
uint32 = DType("uint32", U32)
uint64 = DType("uint64", U64)
float16 = DType("float16", F16)
float32 = DType("float32", F32)
float64 = DType("float64", F64)
vertex = DType("vertex", VID)

DTYPES: dict[str, DType] = {
    str(d.type): d for d in (bool_, int32, int64, uint32, uint64, float16, float32, float64, vertex)
}


def meant(value: object) -> str:
    """`; write vg.float64` for a type of Python's or NumPy's, or its name, where one of ours was wanted."""
    if not isinstance(value, (type, np.dtype, str)):
        return ""
    try:
        name = np.dtype(value).name
    except TypeError:
        return ""
    own = "bool_" if name == "bool" else name
    return f"; write vg.{own}" if any(d.name == own for d in DTYPES.values()) else ""


def _other(function: str, wanted: str, dtype: object, such: str = "float64") -> DeclarationError:
    text = f"{function} takes a {wanted} such as vg.{such}, not {shown(dtype)}{meant(dtype)}"
    text += ", which is how properties are stored" if dtype == float16 else ""
    return DeclarationError(text)


def dtype_of(t: Type) -> DType:
    """The public dtype object of a compiler type."""
    if isinstance(t, Vector):
        return DType(f"vector({DTYPES[t.element.name]!r}, {t.length})", t)
    return DTYPES[t.name]


@public
def vector(dtype: DType, length: int) -> DType:
    """The type of vectors of `length` elements of scalar type `dtype` (a feature vector, say)."""
    return vector_of(dtype, length, "vg.vector")


def vector_of(dtype: object, length: object, function: str) -> DType:
    """The type of what `function` makes, for its two arguments; `vg.local` takes vertices, too."""
    wanted = "scalar number type" if function == "vg.vector" else "scalar type"
    t = dtype.type if isinstance(dtype, DType) else None
    if not isinstance(t, Scalar) or t == (VID if function == "vg.vector" else F16):
        raise _other(function, wanted, dtype, "float32")
    most = LONGEST_ROW if function == "vg.vector" else LONGEST_VECTOR
    if not isinstance(length, int) or isinstance(length, bool) or not 1 <= length <= most:
        limits = f"a length of at least 1, and at most {most:,}"
        raise DeclarationError(f"{function} takes {limits}, not {shown(length)}")
    return DType(f"vector({dtype!r}, {length})", Vector(t, length))


@public
def local(dtype: DType, length: int, *, fill: Any = None) -> Any:
    """An array of `length` elements of scalar type `dtype` that is an operator's own, each `fill` at first: 0, False or
    `vg.none` where it is left out.

    `a = vg.local(vg.vertex, 32)` in an operator or a helper makes one for the visit; `a[i]` is read and written, with i
    modulo the length, and `len(a)` is the length. The arrays of an operator take at most 16,384 bytes together.
    """
    raise VGraphError("vg.local makes an array in a run: call it in an operator")


@public
def local_list(dtype: DType, room: int, *, more: int = 0) -> Any:
    """A list of at most `room` vertices (`dtype` is `vg.vertex`) that is a vertex operator's own, empty at first.

    `cavity = vg.local_list(vg.vertex, 64)` makes the operator cautious: `cavity.append(u)` takes u for the visit, which
    is then alone with its own vertex and with all that it has gathered, reads what it needs of them, and writes them at
    its end. `len(cavity)`, `cavity[i]` (i modulo the length), `for u in cavity:` and `u in cavity` read it. Where a
    visit gathers more than `room` vertices, the run ends with an AlgorithmError; with `more` the visit is made in a
    second pass of the round, with room for so many.
    """
    raise VGraphError("vg.local_list makes a list in a run: call it in a vertex operator")


@dataclass(frozen=True)
class PropertyAnnotation:
    """`vg.vertex_property(vg.float64)` in a signature: the parameter is an array with one element per vertex."""

    dtype: DType

    def __repr__(self) -> str:
        return f"vg.vertex_property({self.dtype!r})"


@public
def vertex_property(dtype: DType) -> PropertyAnnotation:
    """Annotation for a parameter of an algorithm that is a vertex property: an array with one element per vertex."""
    if not isinstance(dtype, DType):
        raise _other("vg.vertex_property", "type", dtype)
    return PropertyAnnotation(dtype)


@dataclass(frozen=True, repr=False)
class ArrayAnnotation:
    """`vg.array(vg.float64, 2)` in a signature: the parameter is an array with so many dimensions, of any size."""

    dtype: DType
    dimensions: int

    def __repr__(self) -> str:
        return f"vg.array({self.dtype!r}{', 2' if self.dimensions == 2 else ''})"


@public
def array(dtype: DType, dimensions: int = 1) -> ArrayAnnotation:
    """Annotation for a parameter of an algorithm that is an array of one or two dimensions, read as `name[i]` or
    `name[i, j]` with any integers, in operators and in the algorithm.

    An index below 0 counts from the end; where there is no element, the read gives 0, false or `vg.none`.
    """
    if not isinstance(dtype, DType) or not isinstance(dtype.type, Scalar) or dtype.type == F16:
        raise _other("vg.array", "scalar type", dtype)
    if isinstance(dimensions, bool) or dimensions not in (1, 2):
        raise DeclarationError(f"vg.array: an array has 1 or 2 dimensions, not {shown(dimensions)}")
    return ArrayAnnotation(dtype, dimensions)


@dataclass(frozen=True, repr=False)
class BoundsAnnotation:
    """`vg.between(0, 1)` in a signature: the parameter is a number from `low` to `high`."""

    low: int | float
    high: int | float
    dtype: DType | None

    def __repr__(self) -> str:
        of = f", {self.dtype!r}" if self.dtype else ""
        return f"vg.between({self.low!r}, {self.high!r}{of})"

    def words(self) -> str:
        """What the parameter takes."""
        low, high = self.low > -math.inf, self.high < math.inf
        bounds = f" from {self.low} to {self.high}" if low and high else ""
        bounds = bounds or (f" of at least {self.low}" if low else f" of at most {self.high}" if high else "")
        return f"a number{bounds}" + (f" that {self.dtype!r} holds" if self.dtype else "")


@public
def between(low: float, high: float, dtype: DType | None = None) -> BoundsAnnotation:
    """Annotation for a parameter of an algorithm that is a number from `low` to `high`, both included; not NaN.

    `-vg.inf` and `vg.inf` leave a side open. Without `dtype` the type is that of the default, else float64 where a
    bound is written as a float, else that of the value. Others are refused with a ParameterError before anything runs.
    """
    for bound in (low, high):
        if isinstance(bound, bool) or not isinstance(bound, (int, float)):
            raise DeclarationError(f"vg.between takes two numbers, not {shown(bound)}")
    if not low <= high:
        raise DeclarationError(f"vg.between({shown(low)}, {shown(high)}): no number is between these")
    none = (BOOL, VID, F16)
    of_numbers = isinstance(dtype, DType) and isinstance(dtype.type, Scalar) and dtype.type not in none
    if dtype is not None and not of_numbers:
        raise _other("vg.between", "number type", dtype)
    return BoundsAnnotation(low, high, dtype)


@dataclass(frozen=True, repr=False)
class EdgePropertyAnnotation:
    """`vg.edge_property(vg.float64)` in a signature: the parameter is a property of edges, or one number for all."""

    dtype: DType

    def __repr__(self) -> str:
        return f"vg.edge_property({self.dtype!r})"


@public
def edge_property(dtype: DType) -> EdgePropertyAnnotation:
    """Annotation for a parameter of an algorithm that is a property of edges, read as `edge.name` and converted to
    `dtype`.

    The caller gives the name of an edge property of the graph, an array with one element per arc as
    `Graph.with_edge_property` takes it, or a number that all edges have; that, or a default that is a number, becomes a
    constant of the code.
    """
    if not isinstance(dtype, DType) or not isinstance(dtype.type, Scalar) or dtype.type in (VID, F16):
        raise _other("vg.edge_property", "number type", dtype)
    return EdgePropertyAnnotation(dtype)


@dataclass(frozen=True, repr=False)
class GraphAnnotation:
    """`vg.undirected` at the graph of a signature: the graphs that the algorithm takes. Others are refused."""

    directed: bool

    def __repr__(self) -> str:
        return "vg.directed" if self.directed else "vg.undirected"


if TYPE_CHECKING:  # where it stands is no graph of any class
    directed: TypeAlias = Any
    undirected: TypeAlias = Any
else:
    directed = GraphAnnotation(True)
    undirected = GraphAnnotation(False)


class Infinity(float):
    """`vg.inf`: infinity; beside integer arrays the largest value of their type (`-vg.inf`: the smallest)."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "vg.inf" if self > 0 else "-vg.inf"

    def __neg__(self) -> Infinity:
        return Infinity(-float(self))

    def __pos__(self) -> Infinity:
        return self

    def __reduce__(self) -> tuple[type[Infinity], tuple[float]]:
        return Infinity, (float(self),)

    def limit(self, dtype: np.dtype[Any]) -> Any:
        """What this stands for in `dtype`: the largest (smallest) integer, or the float."""
        if dtype.kind not in "iu":
            return float(self)
        return np.array(np.iinfo(dtype).max if self > 0 else np.iinfo(dtype).min, dtype)[()]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        kinds = [np.asarray(x).dtype for x in inputs if not isinstance(x, Infinity)]
        integers = [k for k in kinds if k.kind in "iu"]
        if method == "__call__" and len(integers) == len(kinds) > 0 and ufunc in _SAME_TYPE:
            dtype = np.result_type(*integers)
            inputs = tuple(x.limit(dtype) if isinstance(x, Infinity) else x for x in inputs)
        else:
            inputs = tuple(float(x) if isinstance(x, Infinity) else x for x in inputs)
        return getattr(ufunc, method)(*inputs, **kwargs)


_SAME_TYPE = (
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.minimum, np.maximum,
)  # fmt: skip


class NoVertex(int):
    """`vg.none`: no vertex. Results show it as -1, and it equals -1."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "vg.none"

    __str__ = __repr__


inf = Infinity("inf")
nan = math.nan
none = NoVertex(-1)


@public
def fail(message: str) -> NoReturn:
    """End the run with `vg.AlgorithmError(message)`."""
    raise AlgorithmError(message)


@public
def union(a: Any, b: Any) -> None:
    """Merge the disjoint sets of two vertices: `vg.union(src.component, dst.component)` inside an operator."""
    merge = getattr(a, "__vg_union__", None)
    if merge is None:
        raise VGraphError("vg.union takes a property of disjoint sets of two vertices, inside an operator")
    merge(b)


def _elementwise(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`function` on floats of either width and vectors of them; integers are taken as float64."""

    def apply(x: Any) -> Any:
        value = np.asarray(x)
        with np.errstate(all="ignore"):
            return function(value if value.dtype.kind == "f" else value.astype(np.float64))[()]

    return apply


_sqrt, _exp, _log = _elementwise(np.sqrt), _elementwise(np.exp), _elementwise(np.log)


def sqrt(x: Any) -> Any:
    """The square root; NaN below 0."""
    return _sqrt(x)


def exp(x: Any) -> Any:
    """e to the power x."""
    return _exp(x)


def log(x: Any) -> Any:
    """The natural logarithm; -inf at 0, NaN below."""
    return _log(x)


def floor(x: Any) -> Any:
    """The largest whole number that is not above x, of x's own type."""
    return np.floor(x) if np.asarray(x).dtype.kind == "f" else x


def ceil(x: Any) -> Any:
    """The smallest whole number that is not below x, of x's own type."""
    return np.ceil(x) if np.asarray(x).dtype.kind == "f" else x


def popcount(x: Any) -> Any:
    """How many bits of an integer are 1, as an int64; of a vector, of each element."""
    return _count(arithmetic.popcount, x)


def ctz(x: Any) -> Any:
    """How many bits of an integer are 0 below its lowest 1, as an int64; for 0 the width of its type."""
    return _count(arithmetic.ctz, x)


def clz(x: Any) -> Any:
    """How many bits of an integer are 0 above its highest 1, as an int64; for 0 the width of its type."""
    return _count(arithmetic.clz, x)


def _count(function: Callable[[Any], Any], x: Any) -> Any:
    value = np.asarray(x)
    if value.dtype.kind not in "iub":
        raise VGraphError(f"bits are counted of integers, not of {shown(x)}")
    with arithmetic.quiet():
        return function(value if value.dtype.kind != "b" else value.astype(np.int64)).astype(np.int64)[()]


def isnan(x: Any) -> Any:
    """True for NaN."""
    return np.asarray(x) != np.asarray(x) if np.ndim(x) else bool(x != x)


def isinf(x: Any) -> Any:
    """True for the infinities of floats; never for integers."""
    return np.isinf(x) if np.ndim(x) else isinstance(x, (float, np.floating)) and bool(np.isinf(float(x)))


def dot(a: Any, b: Any) -> Any:
    """The sum of the products of the elements of two vectors of one length."""
    return (np.asarray(a) * np.asarray(b)).sum(dtype=np.result_type(a, b))


def sum(a: Any) -> Any:
    """The sum of the elements of a vector, in the vector's own type."""
    return np.asarray(a).sum(dtype=np.asarray(a).dtype)


def argmin(a: Any) -> Any:
    """The number of the smallest element of a vector, the first of several; of the first NaN, if there is one."""
    return np.int64(np.argmin(a))


def argmax(a: Any) -> Any:
    """The number of the largest element of a vector, the first of several; of the first NaN, if there is one."""
    return np.int64(np.argmax(a))


@public
def random(*keys: Any) -> float:
    """A random float64 in [0, 1), of the seed of the run (`vg.run(..., seed=)`) and of one or more integer keys.

    Equal keys give equal numbers, on every device and schedule; other keys, or more of them, give independent ones.
    Vertices are keys by their numbers. The function is Philox4x32-10 (Salmon et al. 2011).
    """
    raise VGraphError("vg.random draws in a run: call it in an operator or in an algorithm")


@public
def random_below(n: Any, *keys: Any) -> int:
    """A random int64 from 0 to n - 1, of the seed of the run and of one or more integer keys; n is 1 to 2**53.

    `low + vg.random_below(high - low, key)` is from low to high - 1. It is `int(vg.random(key, ...) * n)`.
    """
    raise VGraphError("vg.random_below draws in a run: call it in an operator or in an algorithm")


@public
def random_choice(sums: Any, *keys: Any) -> int:
    """The position of an element of `sums`, by the weights of which they are the running sums, as an int64.

    `sums` is a parameter of the algorithm, `sums: vg.array(vg.float64)`, for which the caller gives
    `np.cumsum(weights)`, weights not below 0. It is as long as `sums` where all weights are 0. Keys as of `vg.random`.
    """
    raise VGraphError("vg.random_choice draws in a run: call it in an operator or in an algorithm")


@public
def random_normal(*keys: Any) -> float:
    """A float64 of the standard normal distribution, of the seed of the run and of one or more integer keys.

    `mean + deviation * vg.random_normal(key)` has others. Devices give the same number to a relative 1e-14. It is the
    quantile (Wichura 1988, AS 241) of one number of `vg.random`'s kind, of 52 bits, and lies within 8.21 of 0.
    """
    raise VGraphError("vg.random_normal draws in a run: call it in an operator or in an algorithm")


__all__ = [
    "argmax", "argmin", "array", "between", "bool_", "ceil", "clz", "ctz", "directed", "dot", "edge_property",
    "exp", "fail", "float16", "float32", "float64", "floor", "inf", "int32", "int64", "isinf", "isnan", "local",
    "local_list", "log", "nan", "none", "popcount", "random", "random_below", "random_choice",
    "random_normal", "sqrt", "sum", "uint32", "uint64", "undirected", "union", "vector", "vertex",
    "vertex_property",
]  # fmt: skip

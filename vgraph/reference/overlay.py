"""Copies of the user's functions that see the language's `min`, `int`, `vg.sqrt`, ... instead of Python's.

A debugger steps through the user's file: the code is the user's, with other names (and see `rewriting`).
"""

from __future__ import annotations

import builtins
import enum
import types
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from vgraph.compiler import arithmetic, philox
from vgraph.compiler.foreign.externals import External, is_numba
from vgraph.compiler.frontend.kinds import default, merge
from vgraph.compiler.frontend.typed import Part, Typed
from vgraph.compiler.normal import quantile
from vgraph.compiler.types import BOOL, F64, I64, VID, Vector, element_of
from vgraph.errors import AlgorithmError
from vgraph.language import names as language
from vgraph.language.decorators import FunctionDef
from vgraph.language.names import DType
from vgraph.reference.casts import Cast, cast_type
from vgraph.reference.proxies import Gathered, Local
from vgraph.reference.rewriting import code_of
from vgraph.reference.values import Number, convert, extreme, lift, numpy_dtype

if TYPE_CHECKING:
    from vgraph.reference.driver import DriverState


class VertexCast(Cast):
    """`vg.vertex`: called on a number, the vertex of that number, or vg.none if there is none."""

    def __call__(self, value: Any) -> Any:
        state: DriverState = self.__dict__["state"]
        number = state.lift(value)
        return number if number._kind == VID else state.kept(number, VID)

    __hash__ = DType.__hash__


def _range(*bounds: Any) -> Iterator[Number]:
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if int(step) == 0:
        return iter(())
    return (Number(np.int64(i)) for i in range(int(start), int(stop), int(step)))


def _enumerate(items: Any, start: Any = 0) -> Iterator[tuple[Number, Any]]:
    return ((Number(np.int64(i)), x) for i, x in enumerate(items, int(start)))


def _elementwise(name: str) -> Callable[[Any], Number]:
    """A function of floats; sqrt, exp and log take others as float64, floor and ceil leave them as they are."""

    def apply(x: Any) -> Any:
        number = lift(x)
        t = default(number._kind)
        if not element_of(t).is_float:
            if name in ("floor", "ceil"):
                return number
            t = Vector(F64, t.length) if isinstance(t, Vector) else F64
        return Number(arithmetic.FUNCTIONS[name](convert(number, t)))

    return apply


def _bits(name: str) -> Callable[[Any], Number]:
    """A function of integers that gives int64; bools and vertices count as int64."""

    def apply(x: Any) -> Number:
        number = lift(x)
        t = I64 if number._kind in (BOOL, VID) else default(number._kind)
        return Number(arithmetic.FUNCTIONS[name](convert(number, t)).astype(np.int64))

    return apply


def _dot(a: Number, b: Number) -> Number:
    kind = merge(a._kind, b._kind)
    assert kind is not None
    t = default(kind)
    return Number(arithmetic.FUNCTIONS["dot"](convert(a, t), convert(b, t)))


_LANGUAGE: dict[int, Any] = {
    id(min): extreme("min"),
    id(max): extreme("max"),
    id(abs): lambda x: abs(lift(x)),
    id(int): Cast("int64", I64),
    id(float): Cast("float64", F64),
    id(bool): lambda x: Number(np.bool_(bool(lift(x)))),
    id(len): lambda x: Number(np.int64(len(x))),
    id(range): _range,
    id(enumerate): _enumerate,
    id(language.dot): _dot,
    id(language.sum): lambda a: Number(arithmetic.FUNCTIONS["sum"](a._value)),
    id(language.argmin): lambda a: Number(language.argmin(a._value)),
    id(language.argmax): lambda a: Number(language.argmax(a._value)),
    id(language.vector): lambda dtype, length: cast_type(language.vector(dtype, int(length))),
    **{
        id(getattr(language, name)): _elementwise(name)
        for name in ("sqrt", "exp", "log", "floor", "ceil", "isnan", "isinf")
    },
    **{id(getattr(language, name)): _bits(name) for name in ("popcount", "ctz", "clz")},
}
"""What stands in the place of functions, by their identity."""
_BUILTINS = {f.__name__: _LANGUAGE[id(f)] for f in (min, max, abs, int, float, bool, len, range, enumerate)}


def _untyped(*args: Any) -> None:
    """What a helper is where nothing has been typed."""
    raise AlgorithmError("print calls a helper: give its value to a variable, and print that")


class _Namespace:
    """A module or class with the language's values in place of its own."""

    def __init__(self, owner: types.ModuleType | type, overlay: Overlay) -> None:
        self._owner, self._overlay = owner, overlay

    def __getattr__(self, name: str) -> Any:
        return self._overlay.value(getattr(self._owner, name))


class _Steps:
    """Steps of a computation with numbers."""

    def call(self, function: str, x: Any) -> Any:
        """A function of the language."""
        return arithmetic.FUNCTIONS[function](x)

    def hold(self, x: Any) -> Any:
        """x itself."""
        return x

    def choose(self, x: Any, bound: float, low: Callable[[], Any], high: Callable[[], Any]) -> Any:
        """One of both."""
        return low() if x <= bound else high()


class Overlay:
    """Makes the copies: one for each function of the program as it was typed."""

    def __init__(self, state: DriverState) -> None:
        self.state = state
        self._vertex = VertexCast("vertex", VID)
        self._vertex.__dict__["state"] = state
        self._functions: dict[int, types.FunctionType] = {}
        self._of_runs = {
            id(language.random): self._uniform,
            id(language.random_below): self._below,
            id(language.random_choice): self._choice,
            id(language.random_normal): self._normal,
            id(language.local): self._local,
            id(language.local_list): lambda dtype, room, more=0: Gathered(state, int(room), int(more)),
        }
        self.parameters: dict[str, Any] = {}  # of the algorithm, which operators and helpers see

    def function(self, typed: Typed) -> types.FunctionType:
        """A function of the program, ready to run."""
        found = self._functions.get(id(typed))
        return found or self._functions.setdefault(id(typed), self._copy(typed))

    def _copy(self, typed: Typed) -> types.FunctionType:
        function, closure = typed.definition.function, typed.definition.closure
        code, made = code_of(typed, self)
        seen = {name: self.value(value) for name, value in function.__globals__.items()}
        names = {**_BUILTINS, **seen, **self.parameters, **made, "__builtins__": builtins}
        around = {**{name: self.value(value) for name, value in closure.items()}, **self.parameters}
        cells = (
            types.CellType(around[name]) if name in around else types.CellType() for name in code.co_freevars
        )
        copy = types.FunctionType(code, names, function.__name__, function.__defaults__, tuple(cells))
        copy.__kwdefaults__ = function.__kwdefaults__
        return copy

    def part(self, found: Part) -> Callable[..., Any]:
        """An algorithm of the program's, where it is called."""
        from vgraph.reference.programs import caller

        return caller(self.state, found)

    def external(self, found: External) -> Callable[..., Number]:
        """A function of Numba's, with the types that it was compiled for."""

        def call(*args: Any) -> Number:
            given = (convert(self.state.lift(a), t) for a, t in zip(args, found.args, strict=True))
            return Number(numpy_dtype(found.result).type(found.python(*given)))

        return call

    def _local(self, dtype: DType, length: Any, fill: Any = None) -> Local:
        """`vg.local`."""
        t = Vector(element_of(dtype.type), int(length))
        first = (self.state.none if t.element == VID else 0) if fill is None else fill
        return Local(self.state, np.full(t.length, self.state.to_memory(first, t.element)), t)

    def _uniform(self, *keys: Any, fraction: int = philox.FRACTION) -> Number:
        """`vg.random`."""
        words = [int(np.int64(convert(self.state.lift(key), I64)).view(np.uint64)) for key in keys]
        bits = philox.chained(philox.philox, self.state.seed ^ philox.tag(len(words)), words, 0)
        return Number(np.float64((bits >> 64 - fraction) * 2.0**-fraction))

    def _below(self, n: Any, *keys: Any) -> Number:
        """`vg.random_below`."""
        size = arithmetic.cast(convert(self.state.lift(n), I64), np.dtype(np.float64))
        return Number(arithmetic.cast(self._uniform(*keys)._value * size, np.dtype(np.int64)))

    def _choice(self, sums: Any, *keys: Any) -> Number:
        """`vg.random_choice`."""
        totals = sums.array.astype(np.float64)
        part = self._uniform(*keys)._value * totals[-1] if totals.size else 0.0
        return Number(np.int64(bisect_right(totals, part)))

    def _normal(self, *keys: Any) -> Number:
        """`vg.random_normal`."""
        part = self._uniform(*keys, fraction=philox.FRACTION - 1)._value
        return Number(quantile(part + (2.0**-philox.FRACTION - 0.5), _Steps()))

    def value(self, value: Any) -> Any:
        """What the program sees in place of a value of its module or closure."""
        if id(value) in _LANGUAGE:
            return _LANGUAGE[id(value)]
        if id(value) in self._of_runs:
            return self._of_runs[id(value)]
        if isinstance(value, FunctionDef) or is_numba(value):
            return _untyped  # a call names what it was typed as
        if isinstance(value, DType):
            return self._vertex if value.type == VID else cast_type(value)
        if isinstance(value, types.ModuleType | type):
            return _Namespace(value, self)
        return self.state.lift(value.value if isinstance(value, enum.Enum) else value)

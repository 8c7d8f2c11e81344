"""Copies of the user's functions that see the language's `min`, `int`, `vg.sqrt`, ... instead of Python's.

A debugger steps through the user's file: the code is the user's, with other names (and see `locals`).
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from vgraph import language
from vgraph.compiler import arithmetic
from vgraph.compiler.externals import is_numba
from vgraph.compiler.types import BOOL, F64, I64, VID
from vgraph.decorators import Definition, FunctionDef
from vgraph.language import DType
from vgraph.reference.locals import BIND, bind, code_of
from vgraph.reference.values import Number, convert, extreme, literal_type, typed


class Cast(DType):
    """A dtype whose call converts as the language does."""

    def __call__(self, value: Any) -> Any:
        if self.type == VID:
            return value
        if self.type == BOOL:
            return bool(convert(value, BOOL))
        return Number(convert(value, self.type))

    __hash__ = DType.__hash__


class VertexCast(Cast):
    """`vg.vertex`: called on a number in an operator, the vertex of that number, or vg.none if there is none."""

    def __call__(self, value: Any) -> Any:
        state: Any = self.__dict__["state"]
        if state.round is None or hasattr(value, "as_number"):
            return value
        number = int(convert(value, I64))
        return state.from_memory(number if 0 <= number < state.graph.num_vertices else state.none, VID)

    __hash__ = DType.__hash__


_CASTS: dict[DType, Cast] = {}


def cast_type(dtype: DType) -> Cast:
    """The dtype as the running program sees it; equal dtypes give one object."""
    if isinstance(dtype, Cast):
        return dtype
    return _CASTS.setdefault(dtype, Cast(dtype.name, dtype.type))


def _range(*bounds: Any) -> Iterator[Number]:
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if int(step) == 0:
        return iter(())
    return (Number(np.int64(i)) for i in range(int(start), int(stop), int(step)))


def _number(x: Any) -> Any:
    found = typed(x)
    return convert(x, literal_type(x)) if found is None else found


def _elementwise(name: str, as_float: bool) -> Callable[[Any], Any]:
    def apply(x: Any) -> Any:
        value = _number(x)
        if as_float and value.dtype.kind != "f":
            value = arithmetic.cast(value, np.dtype(np.float64))
        result = arithmetic.FUNCTIONS[name](value)
        return bool(result) if result.dtype.kind == "b" else Number(result)

    return apply


def _dot(a: Any, b: Any) -> Number:
    product = Number(_number(a)) * Number(_number(b))
    return Number(arithmetic.FUNCTIONS["sum"](product.value))


def _sum(a: Any) -> Number:
    return Number(arithmetic.FUNCTIONS["sum"](_number(a)))


_BUILTINS: dict[str, Any] = {
    "min": extreme("min"),
    "max": extreme("max"),
    "abs": lambda x: abs(x) if typed(x) is None else Number(np.abs(typed(x))),
    "int": lambda x: Number(convert(x, I64)),
    "float": lambda x: Number(convert(x, F64)),
    "bool": lambda x: bool(convert(x, BOOL)),
    "len": lambda x: Number(np.int64(len(x))),
    "range": _range,
}
_LANGUAGE: dict[int, Any] = {
    id(language.sqrt): _elementwise("sqrt", True),
    id(language.exp): _elementwise("exp", True),
    id(language.log): _elementwise("log", True),
    id(language.floor): _elementwise("floor", False),
    id(language.ceil): _elementwise("ceil", False),
    id(language.isnan): _elementwise("isnan", False),
    id(language.isinf): _elementwise("isinf", False),
    id(language.dot): _dot,
    id(language.sum): _sum,
}


def _numba(function: Any) -> Callable[..., Any]:
    """A function of Numba's on the numbers of the language."""

    def call(*args: Any) -> Any:
        from vgraph.compiler.numba_functions import result_of

        result, t = result_of(function, [_plain(a) for a in args])
        value = convert(result, t or literal_type(result))
        return bool(value) if value.dtype.kind == "b" else Number(value)

    return call


def _plain(x: Any) -> Any:
    """A NumPy scalar; vertices are numbers of type int64."""
    value = _number(x)
    return np.int64(value) if hasattr(x, "as_number") else value


class _Namespace:
    """A module of the language with its names replaced."""

    def __init__(self, module: types.ModuleType, overlay: Overlay) -> None:
        self._module, self._overlay = module, overlay

    def __getattr__(self, name: str) -> Any:
        return self._overlay.value(getattr(self._module, name))


class Overlay:
    """Makes the copies; one for each function of the program."""

    def __init__(self) -> None:
        self._vertex = VertexCast("vertex", VID)
        self._functions: dict[Definition, Any] = {}

    def function(self, definition: Definition) -> Any:
        """The definition's function with the language's names; its code is the user's but for `bind`."""
        if definition not in self._functions:
            function = definition.function
            names: dict[str, Any] = {**_BUILTINS, BIND: bind, "__builtins__": builtins}
            cells = tuple(types.CellType() for _ in function.__code__.co_freevars)
            code = code_of(definition)
            copy = types.FunctionType(code, names, function.__name__, function.__defaults__, cells)
            copy.__kwdefaults__ = function.__kwdefaults__
            self._functions[definition] = copy
            # Names are filled in last: helpers may call one another.
            names.update({name: self.value(value) for name, value in function.__globals__.items()})
            for cell, name in zip(cells, code.co_freevars, strict=True):
                if name in definition.closure:
                    cell.cell_contents = self.value(definition.closure[name])
        return self._functions[definition]

    def attach(self, state: Any) -> None:
        """Let `vg.vertex(number)` find the graph."""
        self._vertex.__dict__["state"] = state

    def value(self, value: Any) -> Any:
        """What the program sees in place of a value of its module or closure."""
        if isinstance(value, FunctionDef):
            return self.function(value)
        if isinstance(value, DType):
            return self._vertex if value.type == VID else cast_type(value)
        if isinstance(value, types.ModuleType) and value.__name__.split(".")[0] == "vgraph":
            return _Namespace(value, self)
        if is_numba(value):
            return _numba(value)
        return _LANGUAGE.get(id(value), value)

"""What an algorithm is compiled for: the types of its arguments and of the graph's properties.

This runs at every call, before the cache is asked, so it reads annotations and values only and parses nothing.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final, get_args, get_origin

import numpy as np

from vgraph.compiler.types import BOOL, F16, F64, I64, NUMPY_NAMES, VID, Scalar, Target, Type, Vector
from vgraph.errors import ParameterError, shown
from vgraph.graph.arrays import on_gpu
from vgraph.language.decorators import AlgorithmDef
from vgraph.language.names import (
    ArrayAnnotation,
    BoundsAnnotation,
    DType,
    EdgePropertyAnnotation,
    Infinity,
    PropertyAnnotation,
    dtype_of,
)
from vgraph.records import dataclass


@dataclass(frozen=True)
class StaticValue:
    """A compile-time constant: None, a dtype of the language, or a string."""

    value: DType | str | None


@dataclass(frozen=True)
class ArrayType:
    """An array of so many dimensions; 0: of one, with one element per vertex if operators use it as a property."""

    element: Scalar
    dimensions: int = 0


@dataclass(frozen=True)
class PropertyArgument:
    """An array with one element per vertex."""

    type: Type


@dataclass(frozen=True)
class EdgeArgument:
    """An edge property, which the graph has by the name of the parameter; it is read as this type."""

    type: Scalar


@dataclass(frozen=True)
class EdgeConstant:
    """A number that all edges have."""

    type: Scalar
    value: int | float | bool


ArgumentType = Scalar | StaticValue | ArrayType | PropertyArgument | EdgeArgument | EdgeConstant


@dataclass(frozen=True)
class Signature:
    """All that the program's types depend on besides its text.

    `path_types` maps an edge property to the type of `graph.<property>.path_dtype`, wide enough for sums along paths.
    `lengths` are the values of what lengths of vectors are made of: parameters, and `num_vertices`.
    """

    target: Target
    vertex_properties: Mapping[str, Type]
    edge_properties: Mapping[str, Type]
    path_types: Mapping[str, Type]
    directed: bool
    arguments: Mapping[str, ArgumentType]
    lengths: Mapping[str, int] = field(default_factory=dict)


def argument_types(definition: AlgorithmDef, values: Mapping[str, object]) -> Mapping[str, ArgumentType]:
    """The type of each parameter of an algorithm for the given `values` and the defaults of the others.

    Raises ParameterError for a missing or unknown parameter and for a value that its parameter does not take.
    """
    parameters, annotations = definition.signature.parameters, definition.annotations
    for name in values:
        if name not in parameters:
            raise ParameterError(unknown(definition, name))
    found: dict[str, ArgumentType] = {}
    for name, parameter in parameters.items():
        if parameter.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
            raise ParameterError(
                f"{definition.describe()}: parameter {name!r} must be an ordinary one, without * or /"
            )
        if name not in values and parameter.default is inspect.Parameter.empty:
            wanted = accepts(annotations.get(name))
            raise ParameterError(
                f"{definition.name} needs {name}=...: {wanted}; it is {definition.describe()}"
            )
        value = values.get(name, parameter.default)
        try:
            found[name] = type_of(value, annotations.get(name), parameter.default)
        except NotAccepted as problem:
            raise ParameterError(
                f"{name}={shown(value)} is not {problem}; the algorithm is {definition.describe()}"
            ) from None
    return found


class NotAccepted(Exception):
    """Carries the text of what would be accepted."""


def type_of(value: object, annotation: object, default: object) -> ArgumentType:
    """The type of a parameter for one value. Raises NotAccepted."""
    if any(isinstance(a, DType) and a.type == F16 for a in (annotation, *get_args(annotation))):
        raise NotAccepted("a value of a type: vg.float16 is how properties are stored")
    if isinstance(annotation, EdgePropertyAnnotation):
        return _edge_property(value, annotation, default)
    if get_origin(annotation) is list:
        return _annotated_array(value, annotation)
    for kind, of in _BY_ANNOTATION.items():
        if isinstance(annotation, kind):
            return StaticValue(None) if value is None and default is None else of(value, annotation, default)
    if annotation in (int, float, bool) and default is not None:
        default = annotation() if callable(annotation) else default
    return _inferred(value, default)


def _annotated(value: object, dtype: DType, default: object) -> ArgumentType:
    if not isinstance(dtype.type, Scalar) or not _fits(value, dtype.type):
        raise NotAccepted(accepts(dtype))
    return dtype.type


def _fits(value: object, t: Scalar) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return t == BOOL
    if isinstance(value, (int, np.integer)):
        return t != BOOL and (t == VID or _in_range(int(value), t))
    return isinstance(value, (float, np.floating)) and (t.is_float or isinstance(value, Infinity))


def _in_range(value: int, t: Scalar) -> bool:
    least, most = _limits(t)
    return least <= value <= most


@functools.cache
def _limits(t: Scalar) -> tuple[int, int]:
    dtype = np.dtype(Target().numpy_name(t))
    limits: Any = np.finfo(dtype) if t.is_float else np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _property(value: object, annotation: PropertyAnnotation, default: object) -> ArgumentType:
    found = _array(value, 2 if isinstance(annotation.dtype.type, Vector) else 1)
    wanted = annotation.dtype.type
    element = wanted.element if isinstance(wanted, Vector) else wanted
    shape_fits = not isinstance(wanted, Vector) or (found is not None and found.shape[1:] == (wanted.length,))
    if found is None or not shape_fits or (found.dtype.kind == "f" and not element.is_float):
        raise NotAccepted(accepts(annotation))
    return PropertyArgument(wanted)


def _edge_property(value: object, annotation: EdgePropertyAnnotation, default: object) -> ArgumentType:
    """None stands for the default."""
    value, t = default if value is None else value, annotation.dtype.type
    assert isinstance(t, Scalar)
    if value is None:
        return StaticValue(None)
    if isinstance(value, str) or _array(value, 1) is not None:
        return EdgeArgument(t)
    if not _fits(value, t):
        raise NotAccepted(accepts(annotation))
    number: Any = value
    return EdgeConstant(t, float(number) if t.is_float else bool(number) if t == BOOL else int(number))


def _bounded(value: object, annotation: BoundsAnnotation, default: object) -> ArgumentType:
    """A number between bounds, in the type of the annotation, of the default, of a bound, or its own."""
    floats = any(
        isinstance(b, float) and not isinstance(b, Infinity) for b in (annotation.low, annotation.high)
    )
    own = _scalar_type(value)
    t = annotation.dtype.type if annotation.dtype else _scalar_type(default) or (F64 if floats else own)
    assert t is None or isinstance(t, Scalar)
    number: Any = value.item() if isinstance(value, np.generic) else value  # NumPy's compare with no vg.inf
    if (
        t is None
        or isinstance(number, bool)
        or not isinstance(number, (int, float))
        or not annotation.low <= number <= annotation.high
        or not _fits(value, t)
    ):
        raise NotAccepted(accepts(annotation))
    return t


def _annotated_array(value: object, annotation: object) -> ArgumentType:
    element = (get_args(annotation) or (None,))[0]
    scalar = {int: I64, float: F64, bool: BOOL}.get(element) if isinstance(element, type) else None
    scalar = element.type if isinstance(element, DType) and isinstance(element.type, Scalar) else scalar
    found = _array(value, 1)
    if scalar is None or found is None or (found.size and found.dtype.kind == "f" and not scalar.is_float):
        raise NotAccepted(f"an array of {element!r}")
    return ArrayType(scalar)


def _table(value: object, annotation: ArrayAnnotation, default: object) -> ArgumentType:
    """An array whose elements the type holds; only floats may lose digits."""
    found, t = _array(value, annotation.dimensions), annotation.dtype.type
    assert isinstance(t, Scalar)
    if found is None or not _holds(t, found):
        raise NotAccepted(accepts(annotation))
    return ArrayType(t, annotation.dimensions)


_BY_ANNOTATION: Final[dict[type, Callable[[object, Any, object], ArgumentType]]] = {
    PropertyAnnotation: _property,
    BoundsAnnotation: _bounded,
    DType: _annotated,
    ArrayAnnotation: _table,
}
"""The type of a parameter for a value, by the class of its annotation, unless value and default are None."""


def _holds(t: Scalar, found: np.ndarray[Any, Any]) -> bool:
    if not found.size or t.is_float or found.dtype.kind == "b":
        return True
    whole = found.dtype.kind != "f" and t != BOOL
    return whole and (t == VID or all(_in_range(int(x), t) for x in (found.min(), found.max())))


def _inferred(value: object, default: object) -> ArgumentType:
    """The type that a value has by itself, or that its default has: where that is a number, there is no other."""
    by_default = _scalar_type(default)
    if by_default is not None:
        if not _fits(value, by_default):
            raise NotAccepted(accepts(dtype_of(by_default)))
        return by_default
    if value is None or isinstance(value, (DType, str)):
        return StaticValue(value)
    own = _scalar_type(value)
    if own is not None:
        if not _fits(value, own):
            raise NotAccepted(accepts(dtype_of(own)))
        return own
    found = _array(value, 1)
    if found is None:
        raise NotAccepted(
            "a number, a bool, a one-dimensional array of numbers, a type of the language or None"
        )
    if not found.size:
        return ArrayType(I64)
    return ArrayType(NUMPY_NAMES.get(found.dtype.name, F64 if found.dtype.kind == "f" else I64))


def _scalar_type(value: object) -> Scalar | None:
    """bool, int64, float64, or a NumPy scalar's own type; None for anything else. An int enum counts as its int."""
    if isinstance(value, (bool, np.bool_)):
        return BOOL
    if isinstance(value, np.generic):
        return NUMPY_NAMES.get(value.dtype.name)
    if isinstance(value, int):
        return I64
    return F64 if isinstance(value, float) else None


def _array(value: object, dimensions: int) -> np.ndarray[Any, Any] | None:
    """`value` as an array of numbers, or None if it is none."""
    if isinstance(value, (str, bytes)) or not (
        isinstance(value, (list, tuple, range)) or hasattr(value, "__array__")
    ):
        return None
    try:
        found: Any = value if on_gpu(value) else np.asarray(value)
    except (TypeError, ValueError):
        return None
    numbers = found.dtype.kind in "biuf" and found.dtype.itemsize <= 8
    return found if found.ndim == dimensions and (numbers or not found.size) else None


def accepts(annotation: object) -> str:
    """What a parameter takes, in words."""
    if isinstance(annotation, PropertyAnnotation):
        return f"an array of {annotation.dtype!r} with one element per vertex"
    if isinstance(annotation, ArrayAnnotation):
        dimensions = ", with two dimensions" if annotation.dimensions == 2 else ""
        return f"an array of {annotation.dtype!r}{dimensions}"
    if isinstance(annotation, BoundsAnnotation):
        return annotation.words()
    if isinstance(annotation, EdgePropertyAnnotation):
        return f"the name of an edge property, an array of {annotation.dtype!r} with one element per arc, or a number"
    if isinstance(annotation, DType):
        if annotation.type == VID:
            return "a vertex (an int)"
        return "True or False" if annotation.type == BOOL else f"a number that {annotation!r} holds"
    if get_origin(annotation) is list:
        return f"an array of {get_args(annotation)[0]!r}"
    return "a value" if annotation is None else f"{getattr(annotation, '__name__', annotation)}"


def unknown(definition: AlgorithmDef, name: str) -> str:
    """What is said of a parameter that an algorithm does not have."""
    known = [p.name for p in definition.shown]
    from difflib import get_close_matches

    close = get_close_matches(name, known, 1)
    meant = f" (did you mean {close[0]!r}?)" if close else ""
    return f"{definition.name} has no parameter {name!r}{meant}; it is {definition.describe()}"

"""The reference interpreter, `device="python"`: CPython runs the user's functions unchanged, on proxy
objects.

Slow, exact and debuggable with pdb; it is the definition of the language that every other device is tested
against.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from vgraph.compiler import arithmetic
from vgraph.compiler.frontend.signature import ArrayType, PropertyArgument, StaticValue, argument_types
from vgraph.compiler.types import VID, Type
from vgraph.decorators import AlgorithmDef
from vgraph.language import DType
from vgraph.reference.driver import DriverState, GraphProxy, RoundRecord
from vgraph.reference.overlay import Overlay, cast_type
from vgraph.reference.proxies import Property, State, Vertex
from vgraph.reference.values import Number

__all__ = ["RoundRecord", "run_reference"]


def run_reference(
    definition: AlgorithmDef,
    graph: Any,
    arguments: Mapping[str, object],
    *,
    path_types: Mapping[str, Type] | None = None,
) -> tuple[dict[str, Any], list[RoundRecord]]:
    """Run an algorithm on a `vgraph.Graph`; the results by name, and a record of every round.

    Properties come back as arrays, everything else as NumPy scalars; vertex ids are signed, with -1 for none.
    `path_types` are the types of `graph.<property>.path_dtype`; where none is given, 64 bits. Raises
    ParameterError for wrong `arguments`, AlgorithmError where the algorithm ends by `vg.fail`.
    """
    types = argument_types(definition, arguments)
    overlay = Overlay()
    function = overlay.function(definition)
    state = DriverState(graph, function.__code__, overlay, path_types or {})
    overlay.attach(state)
    given = {name: p.default for name, p in definition.signature.parameters.items()} | dict(arguments)
    with arithmetic.quiet():
        values = [_argument(state, given[name], kind) for name, kind in types.items()]
        returned = function(GraphProxy(state), *values)
    outcome = returned if isinstance(returned, tuple) else () if returned is None else (returned,)
    names = result_names(definition) if outcome else []
    return {name: _result(value) for name, value in zip(names, outcome, strict=True)}, state.trace


class ArrayArgument(Property):
    """An array parameter: a loop runs over its elements; operators may use it as a vertex property."""

    def __iter__(self) -> Iterator[Any]:
        return (self.state.from_memory(x, self.type) for x in self.array)

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: Any) -> Any:
        return self.state.from_memory(self.array[int(index)], self.type)


def _argument(state: State, value: Any, kind: Any) -> Any:
    """A parameter as the program sees it."""
    if isinstance(kind, StaticValue):
        return cast_type(kind.value) if isinstance(kind.value, DType) else kind.value
    if isinstance(kind, (ArrayType, PropertyArgument)):
        t = kind.element if isinstance(kind, ArrayType) else kind.type
        make = ArrayArgument if isinstance(kind, ArrayType) else Property
        return make(state, t, np.array(np.asarray(value).astype(state.dtype(t))))
    plain = value.item() if isinstance(value, np.generic) else value
    return state.from_memory(state.to_memory(plain, kind), kind)


def _result(value: Any) -> Any:
    """A result as the caller sees it."""
    if isinstance(value, Property):
        found = value.array.copy()
        return found.view(f"i{found.itemsize}") if value.type == VID else found
    if isinstance(value, Vertex):
        return value._state.id_dtype.type(value._index).view(f"i{value._state.id_dtype.itemsize}")
    if isinstance(value, Number):
        return value.value
    return np.asarray(value)[()]


def result_names(definition: AlgorithmDef) -> list[str]:
    """The names in the algorithm's return statement: `return dist, graph.count` gives dist and count."""
    tree = ast.parse(textwrap.dedent(definition.source.text))
    returned = [n.value for n in ast.walk(tree) if isinstance(n, ast.Return) and n.value is not None][-1]
    parts = returned.elts if isinstance(returned, ast.Tuple) else [returned]
    return [
        p.id if isinstance(p, ast.Name) else p.attr if isinstance(p, ast.Attribute) else "" for p in parts
    ]

"""Runs of algorithms: of the one that the user runs, and of each that this calls, with properties of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from vgraph.compiler import arithmetic, ir
from vgraph.compiler.frontend.signature import EdgeConstant, NotAccepted, StaticValue, type_of
from vgraph.compiler.frontend.typed import Part, TypedProgram
from vgraph.compiler.types import VID
from vgraph.errors import AlgorithmError
from vgraph.language.names import DType
from vgraph.reference.casts import cast_type
from vgraph.reference.driver import DriverState, GraphProxy
from vgraph.reference.frontiers import Frontier
from vgraph.reference.proxies import Property, Vertex
from vgraph.reference.values import Number


def ran(
    typed: TypedProgram,
    graph: Any,
    arguments: Mapping[str, Any],
    ended: Callable[[int, int], None] | None,
    seed: int,
    watch: Callable[[Mapping[str, Property], int], None] | None,
    places: Callable[[Any, str], Any],
) -> tuple[dict[str, Any], DriverState]:
    """Run a program to its end: what it returns, by name, and the state that it leaves."""
    state = DriverState(graph, typed, seed, ended, watch, places)
    values = {name: _argument(state, typed, name, arguments[name]) for name in typed.signature.arguments}
    state.overlay.parameters = values
    function = state.overlay.function(typed.algorithm)  # and of the helpers that it calls
    state.code = function.__code__
    returned = function(GraphProxy(state), *values.values())
    outcome = returned if isinstance(returned, tuple) else (returned,)
    names = [r.name for r in typed.program.results]
    return dict(zip(names, outcome, strict=True)), state


class ArrayArgument(Property):
    """An array parameter: read by index, looped over."""

    def __iter__(self) -> Iterator[Any]:
        return (self.state.from_memory(x, self.type) for x in self.array)

    def __len__(self) -> int:
        return len(self.array)

    @property
    def shape(self) -> tuple[Number, ...]:
        """The sizes of its dimensions."""
        return tuple(Number(np.int64(n)) for n in self.array.shape)

    def __getitem__(self, index: Any) -> Any:
        indices = index if isinstance(index, tuple) else (index,)
        none = any(isinstance(i, Vertex) and int(i) == self.state.none for i in indices)
        at = None if none else arithmetic.element_at([int(i) for i in indices], self.array.shape)
        outside = self.state.none if self.type == VID else self.array.dtype.type(0)
        return self.state.from_memory(outside if at is None else self.array[at], self.type)


def _argument(state: DriverState, typed: TypedProgram, name: str, value: Any) -> Any:
    """A parameter as the program sees it."""
    kind = typed.signature.arguments[name]
    if isinstance(kind, StaticValue):
        return cast_type(kind.value) if isinstance(kind.value, DType) else kind.value
    if isinstance(kind, EdgeConstant):
        return state.from_memory(state.to_memory(kind.value, kind.type), kind.type)
    for param in typed.program.params:
        if param.name == name:
            number = value.item() if isinstance(value, np.generic) else value  # of any width
            return state.from_memory(state.to_memory(number, param.type), param.type)
    for prop in typed.program.properties:
        if prop.name == name and prop.origin is ir.Origin.PARAM:
            make = ArrayArgument if prop.site is ir.Site.ARRAY else Property
            return make(state, prop.type, np.array(np.asarray(value).astype(state.dtype(prop.type))))
    return value  # nothing uses it


# --- calls


class Results:
    """What a call gave: its results as attributes."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        vars(self).update(values)


def caller(state: DriverState, part: Part) -> Callable[..., Results]:
    """The function that stands for an algorithm where it is called."""
    definition, typed = part.definition, part.typed

    def call(graph: GraphProxy, *args: Any, **named: Any) -> Results:
        bound = definition.signature.bind(*args, **named)
        bound.apply_defaults()
        given = {name: _plain(state, part, name, value) for name, value in bound.arguments.items()}
        prepared, replaced = definition.with_edge_properties(state.graph, given)
        watch = None if state.watch is None else lambda _, number: state.watched(number + 1)

        def places(graph: Any, label: str) -> Any:
            return state.places(graph, f"{part.prefix}.{label}")

        returned, inner = ran(typed, prepared, given | replaced, state.ended, state.seed, watch, places)
        state.trace += [r._replace(label=f"{part.prefix}.{r.label}") for r in inner.trace]
        return Results({name: _of_caller(state, value) for name, value in returned.items()})

    return call


def _plain(state: DriverState, part: Part, name: str, value: Any) -> Any:
    """An argument as it would be given to `vg.run`. Raises AlgorithmError for a number that this would refuse."""
    if isinstance(value, Frontier):
        return np.array(value.vertices, np.int64)
    if isinstance(value, Property):
        return value.array
    if not isinstance(value, Number):
        return value
    definition = part.definition
    if any(p.name == name and p.type == VID for p in part.typed.program.params):
        return state.index(value)
    number = int(value) if value._kind == VID else value._value
    try:
        type_of(number, definition.annotations.get(name), definition.signature.parameters[name].default)
    except NotAccepted as problem:
        text = f"{definition.name} was called with a {name} that is not {problem}"
        raise AlgorithmError(text) from None
    return number


def _of_caller(state: DriverState, value: Any) -> Any:
    """A result as the caller sees it."""
    if isinstance(value, Property):
        return Property(state, value.type, value.array.copy())
    if isinstance(value, Frontier):
        return Frontier(state, value.vertices)
    return Vertex(state, value._index) if isinstance(value, Vertex) else value

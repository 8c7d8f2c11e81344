"""The reference interpreter, `device="python"`: CPython runs the user's functions unchanged, on proxy
objects.

Slow, exact and debuggable with pdb; it is the definition of the language that every other device is tested
against.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from vgraph.compiler import arithmetic, ir
from vgraph.compiler.frontend.kinds import default
from vgraph.compiler.frontend.signature import EdgeConstant, StaticValue
from vgraph.compiler.frontend.typed import TypedProgram
from vgraph.compiler.types import VID
from vgraph.graph import members
from vgraph.language.names import DType
from vgraph.reference.driver import DriverState, GraphProxy, RoundRecord
from vgraph.reference.frontiers import Frontier
from vgraph.reference.overlay import cast_type
from vgraph.reference.proxies import EdgeProperty, Property, Vertex
from vgraph.reference.values import Number, convert, lift

__all__ = ["RoundRecord", "run_reference"]


def run_reference(
    typed: TypedProgram,
    graph: Any,
    arguments: Mapping[str, object],
    ended: Callable[[int, int], None] | None = None,
    seed: int = 0,
    watch: Callable[[Mapping[str, Property], int], None] | None = None,
) -> tuple[dict[str, Any], list[RoundRecord]]:
    """Run a program on a `vgraph.Graph` that it was typed for; the results by name, and a record of every round.

    Properties come back as arrays, everything else as NumPy scalars; vertex ids are signed, with -1 for none.
    `arguments` are complete. `ended(active, edges)` is called at the end of each round, and
    `watch(properties, number)`. `seed`: of `vg.random`, from 0
    to 2**64 - 1. Raises AlgorithmError where the
    algorithm ends by `vg.fail`, or names a vertex that there is none of.
    """
    state = DriverState(graph, typed, seed, ended, watch)
    with arithmetic.quiet():
        values = {name: _argument(state, typed, name, arguments[name]) for name in typed.signature.arguments}
        state.overlay.parameters = values
        function = state.overlay.function(typed.algorithm)  # and of the helpers that it calls
        state.code = function.__code__
        returned = function(GraphProxy(state), *values.values())
    outcome = returned if isinstance(returned, tuple) else (returned,)
    names = [r.name for r in typed.program.results]
    return {name: _result(value) for name, value in zip(names, outcome, strict=True)}, state.trace


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


def _result(value: Any) -> Any:
    """A result as the caller sees it; of a frontier, which vertices are in it."""
    if isinstance(value, Frontier):
        return members.marked(value.vertices, value.state.graph.num_vertices)
    if isinstance(value, Property | EdgeProperty):
        found = value.array.copy()
        return found.view(f"i{found.itemsize}") if value.type == VID else found
    number = lift(value)
    found = number._value if number._kind == VID else convert(number, default(number._kind))
    return found.view(f"i{found.itemsize}") if number._kind == VID else found

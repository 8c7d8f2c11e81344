"""Expressions of whole properties: their values at every vertex, put into a property or combined."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from vgraph.compiler import arithmetic
from vgraph.compiler.frontend.kinds import COMBINED
from vgraph.compiler.types import Type
from vgraph.reference.proxies import Property, Round

if TYPE_CHECKING:
    from vgraph.reference.driver import DriverState

_Values = Callable[[int], Any]


def at_vertex(value: Any, vertex: int) -> Any:
    """What a name stands for at a vertex: of a property the value there."""
    if type(value) is not Property:  # an array parameter is another class
        return value
    return value.state.from_memory(value.array[vertex], value.type)


def assigned(state: DriverState, label: str, t: Type, name: str, there: Any, values: _Values) -> Property:
    """The property `name` with other values: the one that is there, else a new one of type `t`."""
    new = _evaluated(state, label, t, values)
    prop = there if isinstance(there, Property) else Property(state, t, state.filled(t, len(new), None))
    for v, value in enumerate(new):
        prop.array[v] = value
    if state.watch is not None:  # what is assigned belongs to the round that has ended
        state.watch({**state.properties, name: prop}, len(state.trace) - 1)
    return prop


def combined(state: DriverState, label: str, how: str, t: Type, values: _Values) -> Any:
    """`graph.sum(...)` and the like."""
    op, extreme = COMBINED[how], {"min": np.inf, "max": -np.inf, "all": True}.get(how, 0)
    first = state.to_memory(arithmetic.constant(extreme, state.dtype(t)), t)
    return state.from_memory(reduce(arithmetic.BINARY[op], _evaluated(state, label, t, values), first), t)


def _evaluated(state: DriverState, label: str, t: Type, values: _Values) -> list[Any]:
    """The values at all vertices in type `t`; a round, unless it is part of the one before (`label` is "")."""
    state.resolve()
    state.round = Round()
    found = [state.to_memory(values(v), t) for v in range(state.graph.num_vertices)]
    if label:
        state.end_round(label, "vertex", len(found), 0)
    state.round = None
    return found

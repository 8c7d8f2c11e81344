"""`run(debug=vertices)`: rings for the values of vertices after each round, and what is read from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.compiler.passes.watch_rounds import RING, VERTICES
from vgraph.runtime.result import Watched

if TYPE_CHECKING:
    from vgraph.reference.proxies import Property
    from vgraph.runtime.plan import Array, Plan

ROOM: Final = 1 << 20
"""Values in a ring: of a few vertices, all rounds of most runs."""


def with_rings(arguments: Mapping[str, Any], plan: Plan, vertices: NDArray[np.int64]) -> dict[str, Any]:
    """The arguments, with the vertices to watch and a ring for the values of each property."""
    size = len(vertices) * max(1, ROOM // len(vertices))
    rings = {o.name for o in plan.outputs if is_ring(o.name)}
    made = {a.name: _ring(a, size) for a in plan.arrays if a.name in rings}
    return {**arguments, VERTICES: vertices, **made}


def _ring(array: Array, size: int) -> NDArray[Any]:
    """A ring of what a property is before it is declared: 0, false, or none."""
    if array.ids:
        return np.full(size, np.iinfo(array.dtype).max, array.dtype)
    return np.zeros((size, array.length) if array.length else size, array.dtype)


def is_ring(name: str) -> bool:
    """Whether a result of a kernel is one of the rings, which have the names of their arrays."""
    return name.endswith(RING)


def record(arguments: Mapping[str, Any], properties: Mapping[str, Property], rounds: int) -> None:
    """Write down what the reference interpreter's properties hold after round `rounds`, as kernels do."""
    vertices = arguments[VERTICES]
    for name, ring in arguments.items():
        prop = properties.get(name.removesuffix(RING))
        if is_ring(name) and prop is not None:
            at = rounds * len(vertices) % len(ring)
            ring[at : at + len(vertices)] = prop.array[vertices]


def watched(rings: Mapping[str, NDArray[Any]], vertices: NDArray[np.int64], rounds: int) -> Watched:
    """What is left in the rings, all of one length, when so many rounds are over: those of the last rounds."""
    room = min((len(ring) // len(vertices) for ring in rings.values()), default=rounds)
    first = max(0, rounds - room)
    rows = np.arange(first, rounds) % max(1, room)
    values = {
        name.removesuffix(RING): ring.reshape(room, len(vertices), *ring.shape[1:])[rows]
        for name, ring in rings.items()
    }
    return Watched(vertices, first, values)

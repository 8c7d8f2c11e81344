"""The reference interpreter, `device="python"`: CPython runs the user's functions unchanged, on proxy
objects.

Slow, exact and debuggable with pdb; it is the definition of the language that every other device is tested
against.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from vgraph.compiler import arithmetic
from vgraph.compiler.frontend.kinds import default
from vgraph.compiler.frontend.typed import TypedProgram
from vgraph.compiler.types import VID
from vgraph.graph import members
from vgraph.reference.driver import RoundRecord
from vgraph.reference.frontiers import Frontier
from vgraph.reference.programs import ran
from vgraph.reference.proxies import EdgeProperty, Property
from vgraph.reference.values import convert, lift

__all__ = ["RoundRecord", "run_reference"]


def run_reference(
    typed: TypedProgram,
    graph: Any,
    arguments: Mapping[str, object],
    ended: Callable[[int, int], None] | None = None,
    seed: int = 0,
    watch: Callable[[Mapping[str, Property], int], None] | None = None,
    places: Callable[[Any, str], Any] = lambda graph, label: graph.topology.arc_places,
) -> tuple[dict[str, Any], list[RoundRecord]]:
    """Run a program on a `vgraph.Graph` that it was typed for; the results by name, and a record of every round.

    Properties come back as arrays, everything else as NumPy scalars; vertex ids are signed, with -1 for none.
    `arguments` are complete. `ended(active, edges)` is called at the end of each round, and
    `watch(properties, number)`. `seed`: of `vg.random`, from 0
    to 2**64 - 1. `places(graph, label)`: for each arc in out order its place in the order of activations that write
    both ends, by default that of the user's edges. Raises AlgorithmError where the
    algorithm ends by `vg.fail`, or names a vertex that there is none of.
    """
    with arithmetic.quiet():
        returned, state = ran(typed, graph, arguments, ended, seed, watch, places)
    return {name: _result(value) for name, value in returned.items()}, state.trace


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

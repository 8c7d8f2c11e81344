"""How far a graph reaches: whether searches of it take many rounds with small frontiers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from vgraph.graph import build

if TYPE_CHECKING:
    from vgraph.graph import Graph

PROBES: Final = 2
PROBE_ROUNDS: Final = 10
PROBE_VERTICES: Final = 2048
PROBE_ARCS: Final = 4 * PROBE_VERTICES
PLANE_VERTICES: Final = 512
"""How a graph is probed for depth: balls of 10 rounds have 221 vertices in a grid of the plane, 1561 in one of space,
and 2**10 and more where each round doubles them. Half a millisecond, once a graph."""
NARROW_VERTICES: Final = 1 << 24
"""More have frontiers of some thousands of vertices even in a plane, for which a cluster of 16 blocks is too little."""


def is_narrow(graph: Graph) -> bool:
    """Whether searches of a deep graph have small frontiers all the time: balls grow as in a plane."""
    return (
        graph.num_vertices <= NARROW_VERTICES
        and is_deep(graph)
        and bool(graph.kept_with_topology("narrow", lambda: all(_balls(graph, PLANE_VERTICES))))
    )


def is_deep(graph: Graph) -> bool:
    """Whether searches of `graph` take many rounds with small frontiers, as on road networks; found out once a graph.

    A ball of PROBE_ROUNDS rounds around a vertex with arcs has fewer than PROBE_VERTICES vertices where balls grow as
    in a plane or in space, and more where they double. A graph with a hub of as many arcs is not looked at further.
    """

    return bool(graph.kept_with_topology("deep", lambda: any(_balls(graph, PROBE_VERTICES))))


def _balls(graph: Graph, most: int) -> Iterator[bool]:
    starts = np.linspace(0, graph.num_vertices - 1, PROBES + 2, dtype=int)[1:-1].tolist()
    return (graph.max_degree < most and _ball(graph, start, most) for start in starts)


def _ball(graph: Graph, start: int, most: int) -> bool:
    """Whether the ball around `start` has fewer vertices, although it is not the whole of its component."""
    out = graph.out
    frontier, seen = [start], {start}
    for _ in range(PROBE_ROUNDS):
        reached: set[int] = set()
        places = build.arcs_of(out.row_offsets, np.array(frontier, np.int64))[0]
        for first in range(0, places.size, PROBE_ARCS):
            reached.update(out.neighbors_at(places[first : first + PROBE_ARCS]).tolist())
            if len(reached) >= most:
                return False
        frontier = list(reached - seen)
        seen |= reached
        if len(seen) >= most:
            return False
    return bool(frontier)

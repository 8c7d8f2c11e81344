"""A shortest path found from its end, as distances are known: of several one of the fewest arcs, always the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import vgraph as vg


@vg.function
def bound(v):
    """No path over v is shorter, as far as is known."""
    if heuristic is None:
        return v.dist
    return v.dist + v.heuristic


@vg.operator
def lead(src, edge, dst):
    """dst comes before src on a shortest path; of several vertices after it the smallest is taken."""
    if not dst.passed and bound(dst) != vg.inf and dst.dist + edge.weight == src.dist:
        dst.onward = min(dst.onward, src)


@vg.operator
def settle(v):
    """v leads to the target from now on, by the fewest arcs."""
    v.passed = True


@vg.function
def trace(graph, source, target, passed):
    """From the target against the arcs, until the source has been passed."""
    passed[target] = True
    frontier = graph.frontier(target)
    while frontier and not passed[source]:
        frontier = graph.edge_apply(lead, frontier, reverse=True)
        graph.vertex_apply(settle, frontier)


def followed(first: int, onward: NDArray[Any]) -> NDArray[Any]:
    """The vertices from `first` on, each after the one that leads to it; nothing if that is -1."""
    path = [first] if first >= 0 else []
    while path and onward[path[-1]] >= 0:
        path.append(int(onward[path[-1]]))
    return np.array(path, onward.dtype)


def path_of(onward: NDArray[Any], length: float, begins: int) -> dict[str, Any]:
    """The vertices one after the other; none where there is no path."""
    return {"path": followed(begins if length != np.inf else -1, onward), "length": length}

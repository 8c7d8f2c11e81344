"""The shortest paths without repeated vertices, one after the other (Yen 1971; Lawler 1972; bounds as in A*)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

import vgraph as vg
from vgraph.algorithms._deviations import Path, in_order
from vgraph.algorithms.a_star import a_star
from vgraph.algorithms.sssp import relax
from vgraph.graph import Graph
from vgraph.graph.weights import check_path_weights, check_whole


@vg.algorithm
def distances_to(graph, target: vg.vertex, weight: vg.edge_property(vg.float64) = 1):
    """Lengths of the shortest paths to `target`."""
    dist = graph.vertex_property(vg.float64, fill=vg.inf)
    dist[target] = 0
    frontier = graph.frontier(target)
    while frontier:
        frontier = graph.edge_apply(relax, frontier, reverse=True)
    return dist


def k_shortest_paths(
    graph: Graph,
    source: int,
    target: int,
    k: int,
    weight: Any = 1,
    *,
    device: str | None = None,
    threads: int | None = None,
) -> list[Path]:
    """The `k` shortest paths from `source` to `target` that come to no vertex twice, the shortest first.

    A function, which runs compiled searches: one for the distances to the target, and with these as bounds an `a_star`
    for each vertex at which a path may leave one before it, if that can be among the `k`.

    weight: as of `a_star`; of parallel arcs the lightest counts, and paths differ in their vertices. device and threads
    as of `vg.run`. Result: at most `k` pairs of `vertices` and `length` (float64); all that there are, if fewer. Which
    paths of equal length come first is not defined. Raises ParameterError as `a_star` does, and for a `k` below 0.
    """
    check_whole(0, k=k)
    return list(islice(paths_in_order(graph, source, target, weight, device=device, threads=threads), int(k)))


def paths_in_order(graph: Graph, source: int, target: int, weight: Any, **how: Any) -> Iterator[Path]:
    """All simple paths from `source` to `target`, the shortest first; the errors of `a_star` before the first one."""
    check_path_weights(graph, weight)
    left = vg.run(distances_to, graph, target=target, weight=weight, **how).dist
    first = vg.run(a_star, graph, source=source, target=target, heuristic=left, weight=weight, **how)
    values = graph.edge_properties[weight] if isinstance(weight, str) else weight
    arcs = np.broadcast_to(np.asarray(1.0 if values is None else values, np.float64), graph.num_arcs)

    def ways_on(vertex: int) -> dict[int, float]:
        """The vertices after this one from which the target is reached, with the least weight of an arc there."""
        found: dict[int, float] = {}
        here = slice(*graph.out.row_offsets[vertex : vertex + 2].tolist())
        for v, length in zip(graph.out.column_indices[here].tolist(), arcs[here].tolist(), strict=True):
            if left[v] != np.inf:
                found[v] = min(length, found.get(v, np.inf))
        return found

    def rest(begin: list[int]) -> Any:
        """The shortest path from the last of these vertices, by none of the others."""
        bounds = left.copy()
        bounds[begin[:-1]] = np.inf
        return vg.run(a_star, graph, source=begin[-1], target=target, heuristic=bounds, weight=weight, **how)

    return in_order(first, target, left, ways_on, rest)

"""Spanning trees: those of Kruskal's algorithm, edge by edge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import vgraph as vg
from vgraph.nx_backend.common import A, converted, refuse
from vgraph.nx_backend.convert import NxGraph

ALGORITHMS = ("boruvka", "borůvka", "kruskal", "prim")


def _check(graph: NxGraph, algorithm: str) -> None:
    if algorithm not in ALGORITHMS:
        raise ValueError(f"{algorithm} is not a valid choice for an algorithm.")
    refuse(graph, "directed")
    if algorithm.startswith("bor"):
        refuse(graph, "multigraph")


def _forest(graph: NxGraph, weight: str | None, minimum: bool, ignore_nan: bool) -> list[int]:
    """The edges of a lightest or heaviest forest, in the order of their weights; of equal ones the first is taken.

    Every edge weighs its place in that order, so that all weights differ, and there is but one forest: Kruskal's.
    """
    values = graph.attribute(weight)
    if values is None:
        values = np.ones(graph.sources.size, np.int64)
    usable = np.flatnonzero((values == values) & (graph.sources != graph.targets))
    if not ignore_nan and (values != values).any():
        first = int(np.flatnonzero(values != values)[0])
        raise ValueError(f"NaN found as an edge weight. Edge {graph.edge(first)}")
    kept = values[usable]
    if minimum:
        order = np.argsort(kept, kind="stable")
    else:
        order = kept.size - 1 - np.argsort(kept[::-1], kind="stable")[::-1]
    ranked = usable[order]
    low = np.minimum(graph.sources[ranked], graph.targets[ranked])
    high = np.maximum(graph.sources[ranked], graph.targets[ranked])
    names, first_of = np.unique(low * len(graph) + high, return_index=True)  # of parallel edges the first
    whole = vg.Graph.from_edges(
        low[first_of], high[first_of], num_vertices=len(graph), directed=False, weight=first_of
    )
    ends = vg.run(A.minimum_spanning_forest, whole).edges.astype(np.int64)
    places = first_of[np.searchsorted(names, ends[:, 0] * len(graph) + ends[:, 1])]
    found: list[int] = ranked[np.sort(places)].tolist()
    return found


def _spanning_edges(
    G: Any, minimum: bool, algorithm: str, weight: str | None, keys: bool, data: bool, ignore_nan: bool
) -> Iterator[tuple[Any, ...]]:
    graph = converted(G, everything=True)
    _check(graph, algorithm)

    def found() -> Iterator[
        tuple[Any, ...]
    ]:  # NetworkX finds nothing wrong with weights before it is asked for edges
        for i in _forest(graph, weight, minimum, ignore_nan):
            edge = graph.edge(i, key=keys)
            yield (*edge, graph.whole.edges[i]) if data and graph.whole is not None else edge

    return found()


def minimum_spanning_edges(
    G: Any,
    algorithm: str = "kruskal",
    weight: str | None = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """The edges of a spanning forest of least weight, the lightest first."""
    return _spanning_edges(G, True, algorithm, weight, keys, data, ignore_nan)


def maximum_spanning_edges(
    G: Any,
    algorithm: str = "kruskal",
    weight: str | None = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """The edges of a spanning forest of greatest weight, the heaviest first."""
    return _spanning_edges(G, False, algorithm, weight, keys, data, ignore_nan)


def _tree(G: Any, weight: str | None, algorithm: str, ignore_nan: bool, minimum: bool) -> Any:
    graph = converted(G, everything=True)
    _check(graph, algorithm)
    chosen = _forest(graph, weight, minimum, ignore_nan)
    return graph.part(range(len(graph)), chosen)


def minimum_spanning_tree(
    G: Any, weight: str | None = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    """A spanning forest of least weight, a NetworkX graph."""
    return _tree(G, weight, algorithm, ignore_nan, True)


def maximum_spanning_tree(
    G: Any, weight: str | None = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    """A spanning forest of greatest weight, a NetworkX graph."""
    return _tree(G, weight, algorithm, ignore_nan, False)

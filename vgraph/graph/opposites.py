"""Graphs in which each arc has one the other way: what flows along an arc can flow back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import build
from vgraph.graph.graph import Graph
from vgraph.graph.order import Given, Known
from vgraph.graph.topology import Topology
from vgraph.graph.weights import kept_with_values


def with_opposite_arcs(graph: Graph, capacity: str | None) -> Graph:
    """The arcs with an edge property as `limit` (None: 1 everywhere), and one of 0 where there is none the other way.

    Results of edges come in the user's order. What was made is kept until values change.
    """
    if capacity is None:
        return graph.kept_with_topology(
            "opposites", lambda: _doubled(graph, np.ones(graph.num_arcs, np.int64))
        )
    return kept_with_values(
        graph, capacity, f"opposites {capacity}", lambda: _doubled(graph, graph.edge_array(capacity))
    )


def _doubled(graph: Graph, limit: NDArray[Any]) -> Graph:
    limit = limit.astype(np.float64 if limit.dtype.kind == "f" else np.int64)
    given = graph.topology
    sources, targets = build.sources_of(given.out.row_offsets, given.id_dtype), given.out.column_indices
    alone = np.flatnonzero(given.opposite_arcs == given.num_arcs) if given.directed else np.empty(0, np.int64)
    ends = np.r_[sources, targets[alone]], np.r_[targets, sources[alone]]
    limit = np.r_[limit, np.zeros(alone.size, limit.dtype)]
    made = Graph.from_edges(*ends, num_vertices=given.num_vertices, limit=limit)
    order, arcs = made.topology.order, _arcs_of_edges(given, sources > targets)
    assert order is not None
    made.topology.order = Known(np.append(order.numbers(made.topology), -1)[arcs])  # -1 stays
    return made


def _arcs_of_edges(given: Topology, down: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each edge that the user gave its arc, of an undirected one that in the same direction; -1 if left out."""
    edges = np.arange(given.num_edges) if given.edge_order is None else given.edge_order
    if given.directed:
        return edges
    numbers, arcs = given.edge_numbers, np.empty((2, given.num_edges), np.int64)
    arcs[:, numbers[~down]] = np.flatnonzero(~down)
    arcs[1, numbers[down]] = np.flatnonzero(down)
    falls = (
        given.order.sources > given.order.targets
        if isinstance(given.order, Given)
        else np.zeros(edges.size, bool)
    )
    return np.where(edges < 0, -1, arcs[falls.astype(np.intp), edges])

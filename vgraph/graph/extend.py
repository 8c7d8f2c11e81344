"""Graphs with a further vertex for each pair or edge that a result is wanted of: results are numbers per vertex."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from vgraph.errors import ParameterError
from vgraph.graph.arrays import sealed
from vgraph.graph.graph import Graph
from vgraph.graph.orient import has_parallel_arcs, self_loops, without_parallel_arcs
from vgraph.graph.prepared import Prepared

NONE: Mapping[str, Any] = MappingProxyType({})


def with_pairs(graph: Graph, left: Any, right: Any) -> Prepared:
    """The graph without parallel arcs, and a vertex without arcs for each pair; results are those of the pairs.

    The arguments `left` and `right` become vertex properties, -1 at the graph's own vertices. Raises ParameterError
    where they are no vertices, or not equally many.
    """
    columns = [np.asarray(ids) for ids in (left, right)]
    for name, ids in zip(("left", "right"), columns, strict=True):
        if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
            raise ParameterError(f"{name}: an array of vertices, one for each pair")
        if ids.size and not (ids.min() >= 0 and ids.max() < graph.num_vertices):
            known = (
                f"from 0 to {graph.num_vertices - 1}"
                if graph.num_vertices
                else "in the graph, which has none"
            )
            raise ParameterError(f"{name}: a vertex is not {known}")
    if columns[0].size != columns[1].size:
        raise ParameterError(f"pairs have {columns[0].size} left and {columns[1].size} right vertices")
    n, size = graph.num_vertices, columns[0].size
    none = np.full(n, -1, np.int64)
    arguments = {
        "left": np.r_[none, columns[0].astype(np.int64)],
        "right": np.r_[none, columns[1].astype(np.int64)],
    }
    return Prepared(extended(without_parallel_arcs(graph), size), n + np.arange(size), arguments)


def with_edges(graph: Graph) -> Prepared:
    """The graph without parallel edges and self-loops, and a vertex without arcs for each edge; results are the edges'.

    Vertex properties: `left` and `right`, the ends of an edge (-1 at the graph's own vertices). Edge property: `name`,
    the number of the edge's vertex.
    Results have an element for each edge, in the order of `Graph.edges`; that of parallel edges is one, and all
    self-loops share a last vertex with `left` -1. Undirected graphs only; what was made is kept.
    """
    return graph.kept_with_topology("with edges", lambda: _with_edges(graph))


def _with_edges(graph: Graph) -> Prepared:
    n, (sources, targets, _) = graph.num_vertices, graph.edges()
    simple, ends, rank = graph, (sources, targets), n + np.arange(sources.size)
    if has_parallel_arcs(graph) or self_loops(graph).any():
        keys, apart = sources.astype(np.int64) * n + targets, sources != targets
        once, numbers = np.unique(keys[apart], return_inverse=True)
        rank[apart], rank[~apart] = n + numbers, n + once.size
        simple = Graph.from_edges(once // n, once % n, num_vertices=n, directed=False, keep_order=False)
        ends = simple.edges()[:2]
    none = np.full(n, -1, np.int64)
    both = {
        name: np.r_[none, ids.astype(np.int64), -1] for name, ids in zip(("left", "right"), ends, strict=True)
    }
    numbered = n + simple.topology.edge_numbers.astype(np.int64)
    return Prepared(extended(simple, simple.num_edges + 1, both, {"name": numbered}), sealed(rank))


def extended(
    graph: Graph, more: int, vertex: Mapping[str, Any] = NONE, edge: Mapping[str, Any] = NONE
) -> Graph:
    """`graph` as a directed one with `more` vertices."""
    offsets = np.r_[graph.out.row_offsets, np.full(more, graph.num_arcs, graph.offset_dtype)]
    return Graph.from_rows(offsets, graph.out.column_indices, True, None, edge, vertex)

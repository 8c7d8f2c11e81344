"""Graphs of two sides: which side a vertex is on, and each vertex twice, once for each side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.graph.graph import Graph


def doubled(graph: Graph, weight: Any) -> Graph:
    """Each vertex v as a person v, and as an object n + v that is worth nothing to itself; both ways for each edge.

    Edge property `worth`: n + 1 times the weight, above 0; self-loops and other edges are left out. Vertex property
    `side`: whether it is on the right.
    """
    n, (s, t, edge) = graph.num_vertices, graph.edges()
    each = edge["weight"] if isinstance(weight, str) or np.ndim(weight) else np.full(s.size, weight)
    kept, every = (each > 0) & (s != t), np.arange(n)
    s, t, worth = s[kept].astype(np.int64), t[kept].astype(np.int64), each[kept].astype(np.int64) * (n + 1)
    return Graph.from_edges(
        np.r_[s, t, every],
        np.r_[t, s, every] + n,
        num_vertices=2 * n,
        keep_order=False,
        vertex_properties={"side": np.r_[np.zeros(n, bool), sides(graph) == 1]},
        worth=np.r_[worth, worth, np.zeros(n, np.int64)],
    )


def with_side(graph: Graph) -> Graph:
    """The edges, undirected and without self-loops, and a vertex property `side`: whether a vertex is on the right."""

    def make() -> Graph:
        s, t, _ = graph.edges()
        kept = s != t
        return Graph.from_edges(
            s[kept],
            t[kept],
            num_vertices=graph.num_vertices,
            directed=False,
            keep_order=False,
            vertex_properties={"side": sides(graph) == 1},
        )

    return graph.kept_with_topology("two sides", make)


def sides(graph: Graph) -> NDArray[Any]:
    """For each vertex 0 or 1, other than its neighbors', or -1 where that cannot be: components of the double cover."""

    def make() -> NDArray[Any]:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        n, (s, t, _) = graph.num_vertices, graph.edges()
        apart = s != t
        ends = (
            np.r_[s, t][np.r_[apart, apart]].astype(np.int64),
            np.r_[t, s][np.r_[apart, apart]].astype(np.int64) + n,
        )
        cover = csr_array((np.ones(ends[0].size, np.int8), ends), shape=(2 * n, 2 * n))
        first, second = np.split(connected_components(cover, directed=False)[1], 2)
        return np.where(first == second, -1, first > second)

    return graph.kept_with_topology("sides", make)

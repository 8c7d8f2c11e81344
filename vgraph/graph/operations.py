"""Graphs made of graphs: parts, neighborhoods, arcs turned round, edges as vertices. All are methods of `Graph`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vgraph.errors import GraphError, shown
from vgraph.graph import build
from vgraph.graph.arrays import as_ids, check_below
from vgraph.graph.build import BuildOptions, MultiEdges
from vgraph.graph.order import Moved
from vgraph.graph.topology import Adjacency, Topology

if TYPE_CHECKING:
    from vgraph.graph.graph import Graph


class Subgraph(NamedTuple):
    """Part of a graph. Its vertex i is vertex `vertices[i]` (int64) of the graph that it was taken from."""

    graph: Graph
    vertices: NDArray[np.int64]


def subgraph(graph: Graph, vertices: ArrayLike) -> Subgraph:
    """The vertices that are given, ids or a bool for each vertex of the graph, and all edges between them.

    New vertices are numbered in the order in which they are given. Properties are carried over. Raises GraphError for
    what is no vertex, and for one that is given twice. O(vertices + arcs of those chosen).
    """
    ids = _chosen(graph, vertices)
    number = np.full(graph.num_vertices, -1, np.int64)
    number[ids] = np.arange(ids.size)
    if (number[ids] != np.arange(ids.size)).any():
        raise GraphError(f"subgraph: vertex {ids[number[ids] != np.arange(ids.size)][0]} is given twice")
    arcs, degrees = build.arcs_of(graph.out.row_offsets, ids)
    sources, ends = np.repeat(ids, degrees), graph.out.column_indices[arcs].astype(np.int64)
    kept = (number[ends] >= 0) & (graph.directed | (sources <= ends))
    edge = {name: values[arcs[kept]] for name, values in graph.edge_properties.items()}
    vertex = {name: values[ids] for name, values in graph.vertex_properties.items()}
    between = number[sources[kept]], number[ends[kept]], ids.size
    options = BuildOptions(graph.directed)
    return Subgraph(graph.from_ends(*between, options, edge, vertex, keep_order=False), ids)


def k_hop(graph: Graph, vertices: ArrayLike, k: int, undirected: bool = False) -> NDArray[np.int64]:
    """The vertices within k hops of one, or of several: these first, then level by level, each in ascending order.

    `undirected`: arcs may be taken against their direction, too. Raises GraphError for what is no vertex, and for a
    negative k. O(vertices + arcs that are met).
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 0:
        raise GraphError(f"{shown(k)} is no number of hops")
    level = np.unique(_chosen(graph, vertices))
    seen = np.zeros(graph.num_vertices, np.bool_)
    seen[level] = True
    levels = [level]
    sides = (graph.out, graph.in_) if undirected and graph.directed else (graph.out,)
    while level.size and len(levels) <= k:
        ends = np.concatenate([s.column_indices[build.arcs_of(s.row_offsets, level)[0]] for s in sides])
        level = np.unique(ends[~seen[ends]]).astype(np.int64)
        seen[level] = True
        levels.append(level)
    return np.concatenate(levels)


def ego(graph: Graph, vertex: int, radius: int = 1, undirected: bool = False) -> Subgraph:
    """The vertex, those within `radius` hops of it, and all edges between them; the vertex itself is number 0.

    Parameters, and what is refused, as of `k_hop`; what is carried over as of `subgraph`.
    """
    if np.ndim(vertex):
        raise GraphError(
            f"ego: vertex={shown(vertex)}: one vertex; `subgraph(k_hop(vertices, k))` is of several"
        )
    return subgraph(graph, k_hop(graph, vertex, radius, undirected))


def reverse(graph: Graph) -> Graph:
    """The graph with every arc turned round, and all properties; an undirected graph itself.

    Results of edges come in the order of this graph's. The arcs are made once, and shared.
    """
    if not graph.directed:
        return graph
    arcs, before = graph.in_, graph.topology

    def make() -> Topology:
        assert arcs.edge_ids is not None
        turned = Adjacency(arcs.row_offsets, arcs.column_indices)
        return Topology(turned, graph.num_edges, True, Moved(before, arcs.edge_ids.astype(np.int64)))

    edge = {name: graph.in_property(name) for name in graph.edge_properties}
    return type(graph)(before.kept("reversed", make), edge, graph.vertex_properties)


def simplify(graph: Graph, self_loops: bool = False, multi_edges: MultiEdges = False) -> Graph:
    """The graph without self-loops, and with one of parallel edges; options and properties as of `from_edges`.

    `self_loops=True` keeps them. `multi_edges`: False keeps the first, "min", "max" and "sum" reduce each property,
    True keeps all.
    """
    options = BuildOptions(graph.directed, self_loops, multi_edges)
    sources, targets, edge = graph.edges()
    made = sources, targets, graph.num_vertices, options, edge, graph.vertex_properties
    return graph.from_ends(*made, keep_order=False)


def line_graph(graph: Graph) -> Graph:
    """The graph whose vertex i is edge i of `edges()`, with its properties as vertex properties.

    Edges of an undirected graph are neighbors where they share an end; in a directed graph an arc leads to those that
    begin where it ends. As in NetworkX there are no parallel edges, and only a directed self-loop leads to itself.
    O(sum of squared degrees).
    """
    from scipy.sparse import csr_array

    sources, targets, properties = graph.edges()
    n, size = graph.num_vertices, sources.size
    every, ones = np.arange(size), np.ones(size, np.int32)
    begins = csr_array((ones, (every, sources)), shape=(size, n))
    ends = csr_array((ones, (every, targets)), shape=(size, n))
    meets = ends @ begins.T if graph.directed else (begins + ends) @ (begins + ends).T
    rows, columns = meets.nonzero()
    once = slice(None) if graph.directed else rows < columns
    options = BuildOptions(graph.directed)
    return graph.from_ends(rows[once], columns[once], size, options, {}, properties, keep_order=False)


def _chosen(graph: Graph, vertices: Any) -> NDArray[np.int64]:
    """Vertices as ids: one, some, or a bool for each."""
    given = np.atleast_1d(np.asarray(vertices))
    if given.dtype == np.bool_:
        if given.shape != (graph.num_vertices,):
            raise GraphError(f"{given.size} bools, but {graph.num_vertices} vertices")
        return np.flatnonzero(given)
    ids = as_ids(given, "vertices")
    check_below(ids, "vertices", graph.num_vertices)
    return ids.astype(np.int64)

"""The acyclic orientation of a graph by degree: every edge once, between the ends in the order of their degrees."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import build, layouts, machine
from vgraph.graph.arrays import MAX_ID_32, offset_dtype, sealed
from vgraph.graph.build import BuildOptions
from vgraph.graph.graph import Graph
from vgraph.graph.prepared import Prepared
from vgraph.graph.topology import Adjacency, Topology
from vgraph.graph.weights import kept_with_values

DEVICE_ARCS: Final = 1 << 20
"""Arcs from which on an orientation for a GPU is made there; below, the host takes less than 50 ms."""
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFF_FFFF)


def oriented(graph: Graph) -> Prepared:
    """The graph as a directed acyclic one: arcs lead from vertices with fewer neighbors to such with more.

    Vertices are numbered by falling degree, so that arcs lead from higher to lower numbers, and none has more than
    sqrt(2 * edges) of them. The direction of arcs is ignored; self-loops and parallel arcs are left out. What was
    made is kept with the graph.
    """

    def make() -> Prepared:
        made = _make(graph)
        made.graph.kept_with_topology("parallel", lambda: False)
        # By the degrees of the graph it was made of, it is in that order, and in no other do walks end as soon.
        order = sealed(np.arange(made.graph.num_vertices))
        made.graph.kept_with_topology("order degree", lambda: order)
        made.graph.kept_with_topology("paying order", lambda: None)
        return made

    return graph.kept_with_topology("oriented", make)


def has_parallel_arcs(graph: Graph) -> bool:
    """Whether a vertex has two arcs to the same other one; found out once."""
    out = graph.out
    return graph.kept_with_topology(
        "parallel", lambda: bool(build.repeats(out.row_offsets, out.column_indices).any())
    )


def self_loops(graph: Graph) -> NDArray[np.int64]:
    """How many self-loops each vertex has; counted once."""

    def count() -> NDArray[np.int64]:
        sources = build.sources_of(graph.out.row_offsets, np.dtype(np.int64))
        return np.bincount(sources[sources == graph.out.column_indices], minlength=graph.num_vertices)

    return graph.kept_with_topology("self-loops", count)


def without_parallel_arcs(graph: Graph) -> Graph:
    """The graph with the first of parallel arcs alone, without properties; the graph itself if there are none."""
    if not has_parallel_arcs(graph):
        return graph

    def make() -> Graph:
        sources, targets, _ = graph.edges()
        options = BuildOptions(directed=graph.directed, multi_edges=False)
        return Graph.from_ends(sources, targets, graph.num_vertices, options, {}, {}, keep_order=False)

    return graph.kept_with_topology("without parallel arcs", make)


def lightest_of_parallel_arcs(graph: Graph) -> Graph:
    """The graph with the lightest of parallel arcs by the edge property `weight`; the graph itself if there are none.

    What was made is kept until the same arcs come with other weights.
    """
    if not has_parallel_arcs(graph) or "weight" not in graph.edge_properties:
        return graph

    def make() -> Graph:
        sources, targets, properties = graph.edges()
        return Graph.from_edges(
            sources,
            targets,
            num_vertices=graph.num_vertices,
            directed=graph.directed,
            multi_edges="min",
            keep_order=False,
            weight=properties["weight"],
        )

    return kept_with_values(graph, "weight", "lightest arcs", make)


def both_ways(graph: Graph) -> Graph:
    """A directed graph with each arc also the other way round, of the same weight; self-loops stay as they are.

    Its vertex property `lean` is what the arcs that left a vertex weighed, less those that entered it. What was made is
    kept until the same arcs come with other weights.
    """

    def make() -> Graph:
        n, (s, t, properties) = graph.num_vertices, graph.edges()
        weight, apart = properties["weight"], s != t
        return Graph.from_edges(
            np.r_[s, t[apart]],
            np.r_[t, s[apart]],
            num_vertices=n,
            keep_order=False,
            vertex_properties={"lean": np.bincount(s, weight, n) - np.bincount(t, weight, n)},
            weight=np.r_[weight, weight[apart]],
        )

    return kept_with_values(graph, "weight", "both ways", make)


def _make(graph: Graph) -> Prepared:
    out, n = graph.out, graph.num_vertices
    if graph.directed or has_parallel_arcs(graph):
        sources = build.sources_of(out.row_offsets, np.dtype(np.int64))
        simple = BuildOptions(directed=False, self_loops=False, multi_edges=False)
        return _make(Graph.from_ends(sources, out.column_indices, n, simple, {}, {}, keep_order=False))
    arcs = (
        layouts.device_arcs(graph)
        if out.columns.dtype == np.uint32 and graph.num_arcs >= DEVICE_ARCS
        else None
    )
    if arcs is not None:
        with suppress(MemoryError):
            return _on_device(arcs)
    rank = _ranks(graph.out_degree)
    order = np.empty_like(rank)
    order[rank] = np.arange(n, dtype=rank.dtype)
    work = np.concatenate(([0], np.cumsum(graph.out_degree[order], dtype=np.int64)))
    cuts, columns = machine.cuts(work), np.empty(out.column_indices.size // 2, rank.dtype)
    # For each part of the targets: how many arcs lead there from each vertex; then, where the first of them stands.
    places = np.zeros((cuts.size - 1, n), offset_dtype(columns.size, None))
    arrays = {"ID": out.column_indices, "OFFSET": out.row_offsets, "RANK": rank, "AT": places}
    types = {name: machine.machine_type(array) for name, array in arrays.items()}
    given = out.row_offsets, out.column_indices, order, rank
    machine.run("orient", "vg_orient_count", cuts, lambda k: (*given, places[k]), types=types)
    offsets = np.zeros(n + 1, places.dtype)
    np.cumsum(places.sum(axis=0, dtype=places.dtype), out=offsets[1:])
    ahead = offsets[:-1].copy()
    for part in places:
        count = part.copy()
        part[:] = ahead
        ahead += count
    columns = columns[: int(offsets[-1])]  # a self-loop is one arc, and left out
    machine.run("orient", "vg_orient_fill", cuts, lambda k: (*given, places[k], columns), types=types)
    return Prepared(Graph.from_rows(offsets, columns, True, None, {}, {}, copy=False), rank)


def _on_device(arcs: layouts.SortingArcs) -> Prepared:
    """The same on a device, of undirected graphs: an arc is a pair of the ranks of its ends, and those of the arcs that
    leave one vertex after the other, by rank, have to be sorted by the other end alone.

    Takes 12 bytes per arc there.
    """
    xp, n = arcs.xp, arcs.num_vertices
    rows, columns = arcs.adjacency("out")
    degrees = xp.diff(rows)
    order = (arcs.num_arcs - degrees.astype(np.int64)).astype(np.uint64) << _HALF | xp.arange(
        n, dtype=np.uint64
    )
    order.sort()
    vertices = (order & _LOW).astype(np.int64)
    rank = xp.empty(n, columns.dtype)
    rank[vertices] = xp.arange(n, dtype=columns.dtype)
    line = xp.zeros(n + 1, np.uint64)
    xp.cumsum(degrees[vertices], out=line[1:])
    moves = rows[vertices].astype(np.int64) - line[:-1].view(np.int64)
    bits = max(1, (n - 1).bit_length())
    sources, columns = arcs.sort_arcs(line, moves, rank, bits)
    del order, vertices, line, moves
    ends = xp.arange(n + 1, dtype=columns.dtype)
    dtype = offset_dtype(columns.size, None)
    out_rows = arcs.on_host(xp.searchsorted(sources, ends).astype(dtype))
    targets, sources = arcs.sort_pairs(columns, sources, bits)
    in_rows = arcs.kept(xp.searchsorted(targets, ends).astype(dtype))
    del targets
    out = Adjacency(out_rows, arcs.kept(columns))
    back = Adjacency(
        in_rows, arcs.kept(sources), lambda: build.transpose(out.row_offsets, out.column_indices)[2]
    )
    topology = Topology(out, int(columns.size), True, transpose=back)
    return Prepared(Graph(topology, {}, {}), arcs.on_host(rank.astype(np.int32)))


def _ranks(degrees: NDArray[Any]) -> NDArray[Any]:
    """The place of every vertex in the order of falling degrees; equal degrees keep their order."""
    most = degrees.max(initial=0)
    keys = (most - degrees).astype(np.min_scalar_type(int(most)))  # those of 16 bits are sorted by counting
    order = np.argsort(keys, kind="stable")
    rank = np.empty(degrees.size, np.int32 if degrees.size <= MAX_ID_32 else np.int64)
    rank[order] = np.arange(degrees.size, dtype=rank.dtype)
    return sealed(rank)


def oriented_with_ways(graph: Graph) -> Prepared:
    """`oriented`, with the edge property `ways`: 2 for edges that the graph has in both directions, else 1."""
    return _oriented_with(graph, "ways", np.array([0, 1, 1, 2], np.int32))


def oriented_with_senses(graph: Graph) -> Prepared:
    """`oriented`, with the edge property `sense`: 1 for edges along which the graph has an arc, 2 against, 3 both."""
    return _oriented_with(graph, "sense", np.arange(4, dtype=np.int32))


def _oriented_with(graph: Graph, name: str, values: NDArray[np.int32]) -> Prepared:
    """`oriented`, with an edge property that has one of the values for each sense."""

    def make() -> Prepared:
        base = oriented(graph)
        count = base.graph.num_arcs
        of_edges = values[_senses(graph, base)] if graph.directed else np.full(count, values[3])
        return Prepared(base.graph.with_edge_property(name, of_edges), base.rank)

    return graph.kept_with_topology(f"oriented with {name}", make)


def _senses(graph: Graph, base: Prepared) -> NDArray[np.int8]:
    """In which senses a directed graph has the edges of `base`: 1 along them, 2 against, 3 both."""
    assert base.rank is not None
    sources, targets, _ = without_parallel_arcs(graph).edges()
    s, t = base.rank[sources].astype(np.int64), base.rank[targets].astype(np.int64)
    n, edges = graph.num_vertices, base.graph.edges()
    keys = edges[0].astype(np.int64) * n + edges[1].astype(np.int64)
    sense = np.zeros(keys.size, np.int8)
    sense[np.searchsorted(keys, (s * n + t)[s > t])] = 1
    sense[np.searchsorted(keys, (t * n + s)[s < t])] += 2
    return sense

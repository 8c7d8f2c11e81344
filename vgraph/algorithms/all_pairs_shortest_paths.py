"""Distances from every vertex, as blocks of 64 sources: no more than one of them is held at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.algorithms._searches import begin, search
from vgraph.algorithms.sssp import relax
from vgraph.graph import Graph
from vgraph.graph.weights import check_lengths


@vg.operator
def start(v, graph):
    """A source is no hops from itself."""
    v.hops[v.id - graph.first] = 0


@vg.operator
def settle(v, graph):
    """The searches that came to v now, and for the first time, are as far as this."""
    v.fresh = v.seen & ~v.before
    v.before = v.seen
    left = v.fresh
    while left != 0:
        v.hops[vg.ctz(left)] = graph.depth
        left &= left - 1


@vg.operator
def keep(v, graph):
    """What one search found."""
    v.lengths[graph.row] = v.dist


@vg.algorithm
def hop_block(graph, first: vg.int64):
    """Hops from 64 vertices, `first` and those numbered after it, to each."""
    hops = graph.vertex_property(vg.vector(vg.int32, 64), fill=-1)
    seen, fresh, before = graph.vertex_property(vg.uint64)
    graph.first = first
    sources = graph.vertex_filter(begin)
    graph.vertex_apply(start, sources)
    search(graph, sources, settle)
    return hops


@vg.algorithm
def length_block(graph, first: vg.int64):
    """The same by the edge property `weight`, one search after the other."""
    lengths = graph.vertex_property(vg.vector(graph.weight.path_dtype, 64), fill=vg.inf)
    graph.row = 0
    for source in range(first, min(first + 64, graph.num_vertices)):
        dist = graph.vertex_property(graph.weight.path_dtype, fill=vg.inf)
        dist[source] = 0
        frontier = graph.frontier(source)
        while frontier:
            frontier = graph.edge_apply(relax, frontier)
        graph.vertex_apply(keep)
        graph.row += 1
    return lengths


class Block(NamedTuple):
    """Vertices, and a row of distances for each: from it to every vertex."""

    sources: NDArray[np.int64]
    distances: NDArray[Any]


def all_pairs_shortest_paths(
    graph: Graph, *, weighted: bool = False, device: str | None = None, threads: int | None = None
) -> Iterator[Block]:
    """Distances from every vertex to every other, as an iterator of blocks of up to 64 sources, in ascending order.

    A function, which runs compiled searches, 64 for each block when it is asked for. weighted: by the edge property
    `weight`, as `sssp`; in hops otherwise. device and threads as of `vg.run`. A block has `sources` and `distances`, a
    row for each: int32 for hops, -1 where unreached; else of the type of `dist` of `sssp`, where unreached `vg.inf`. A
    block takes 64 * vertices elements, 256 or 512 bytes for each vertex, and is the caller's. Raises ParameterError for
    weights as `sssp` does, before the first block. O(vertices + arcs) for all hops of a block or a little more, as many
    `sssp` for the other.
    """
    if weighted:
        check_lengths(graph)

    def block(first: int) -> Block:
        made = length_block if weighted else hop_block
        found = vg.run(made, graph, first=first, device=device, threads=threads)
        sources = np.arange(first, min(first + 64, graph.num_vertices))
        return Block(sources, getattr(found, found.names[0]).T[: sources.size])

    return map(block, range(0, graph.num_vertices, 64))

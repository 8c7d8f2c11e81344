"""Graphs whose vertices are numbered in another order, so that what is read often lies close together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vgraph._arrays import sealed
from vgraph._topology import Adjacency, Topology
from vgraph.errors import GraphError
from vgraph.graph import Graph

ORDERS = ("degree",)


class Relabelled(NamedTuple):
    """A graph in another order of vertices. Its vertex `new_of_old[v]` is vertex `v` of the graph it was made from.

    `old_of_new` and `new_of_old` have one id per vertex, int64, and are inverse to each other.
    """

    graph: Graph
    old_of_new: NDArray[np.int64]
    new_of_old: NDArray[np.int64]

    def to_new(self, values: NDArray[Any], *, ids: bool) -> NDArray[Any]:
        """An array with one row per vertex, in the new order; `ids`: its elements are vertices."""
        moved = values[self.old_of_new]
        return self.renumber(moved, self.new_of_old) if ids else moved

    def to_old(self, values: NDArray[Any], *, ids: bool) -> NDArray[Any]:
        """The inverse of `to_new`."""
        moved = values[self.new_of_old]
        return self.renumber(moved, self.old_of_new) if ids else moved

    @staticmethod
    def renumber(ids: NDArray[Any], table: NDArray[np.int64]) -> NDArray[Any]:
        """Each vertex by its other number; what is no vertex (none) stays."""
        valid = (ids >= 0) & (ids < table.size)
        found = ids.copy()
        found[valid] = table[ids[valid].astype(np.int64)]
        return found


def relabelled(graph: Graph, by: str) -> Relabelled:
    """`graph` in the order called `by`. Its topology is shared by graphs that share one."""
    if by not in ORDERS:
        raise GraphError(f"relabelled({by!r}): the orders are {', '.join(map(repr, ORDERS))}")
    made = graph.kept_with_topology(f"relabelled by {by}", lambda: _permuted(graph))
    topology, arcs, old_of_new, new_of_old = made
    edge = {key: values[arcs] for key, values in graph.edge_properties.items()}
    vertex = {key: values[old_of_new] for key, values in graph.vertex_properties.items()}
    return Relabelled(Graph(topology, edge, vertex), old_of_new, new_of_old)


def _permuted(graph: Graph) -> tuple[Topology, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The adjacency with the vertices of most arcs first, which arc each of its arcs was, and the permutation."""
    offsets = graph.out.row_offsets.astype(np.int64)
    degrees = np.diff(offsets)
    old_of_new = np.argsort(-degrees, kind="stable")
    new_of_old = np.empty_like(old_of_new)
    new_of_old[old_of_new] = np.arange(old_of_new.size)
    moved = np.concatenate(([0], np.cumsum(degrees[old_of_new])))
    starts = np.repeat(offsets[:-1][old_of_new] - moved[:-1], degrees[old_of_new])
    arcs = starts + np.arange(graph.num_arcs)
    columns = new_of_old[graph.out.column_indices[arcs].astype(np.int64)]
    # Rows are sorted by the builder; parallel arcs keep their order, so both arcs of an edge stay partners.
    bits = 64 if graph.id_dtype.itemsize == 8 else None
    sorted_rows = Graph.from_csr(moved, columns, id_bits=bits, arc=arcs)
    arcs = np.asarray(sorted_rows.edge_properties["arc"])
    out = Adjacency(sorted_rows.out.row_offsets, sorted_rows.out.column_indices)
    return Topology(out, graph.num_edges, graph.directed), arcs, sealed(old_of_new), sealed(new_of_old)

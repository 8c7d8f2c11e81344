"""Graphs whose vertices are numbered in another order, so that what is read often lies close together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError
from vgraph.graph import build
from vgraph.graph.arrays import sealed
from vgraph.graph.clusters import by_clusters
from vgraph.graph.order import Moved
from vgraph.graph.topology import Adjacency, Topology

if TYPE_CHECKING:
    from vgraph.graph.graph import Graph

Permuted = tuple[Topology, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Arcs in another order of vertices, which old arc each is, and the permutation as `old_of_new` and `new_of_old`."""


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


def permuted(topology: Topology, by: str) -> Permuted:
    """The arcs with their vertices in the order called `by`: made on first use, then kept with them."""
    order = ORDERS.get(by)
    if order is None:
        raise GraphError(f"relabelled({by!r}): the orders are {', '.join(map(repr, ORDERS))}")
    return topology.kept(f"relabelled by {by}", lambda: _moved(topology, order(topology)))


def _by_degree(topology: Topology) -> NDArray[np.int64]:
    """The vertices of most arcs first; equals keep their order."""
    return np.argsort(-topology.degrees("out").astype(np.int64), kind="stable")


def _by_band(topology: Topology) -> NDArray[np.int64]:
    """Reverse Cuthill-McKee (1969; George 1971): neighbors get near numbers, the direction of arcs ignored."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    if max(topology.num_arcs, topology.num_vertices) > np.iinfo(np.int32).max:
        raise GraphError("relabelled('rcm') takes graphs of fewer than 2**31 vertices and arcs")
    if not topology.num_vertices:
        return np.empty(0, np.int64)
    columns, offsets = (x.astype(np.int32) for x in (topology.out.column_indices, topology.out.row_offsets))
    matrix = csr_array((np.ones(columns.size, np.int8), columns, offsets), shape=(offsets.size - 1,) * 2)
    found = reverse_cuthill_mckee(matrix, symmetric_mode=not topology.directed)
    return np.asarray(found, np.int64)


ORDERS: Final = {"degree": _by_degree, "rcm": _by_band, "clusters": by_clusters}
"""The vertices of a graph in another order, by its name: `old_of_new`."""


def _moved(topology: Topology, old_of_new: NDArray[np.int64]) -> Permuted:
    before, size = topology.out, old_of_new.size
    new_of_old = np.empty_like(old_of_new)
    new_of_old[old_of_new] = np.arange(size)
    arcs, moved_degrees = build.arcs_of(before.row_offsets, old_of_new)
    moved = np.concatenate(([0], np.cumsum(moved_degrees)))
    columns = new_of_old[before.column_indices[arcs].astype(np.int64)]
    # Rows are sorted by the builder; parallel arcs keep their order, so both arcs of an edge stay partners.
    keys = build.pack(build.sources_of(moved, np.dtype(np.int64)), columns)
    bits = 64 if before.column_indices.itemsize == 8 else None
    edges = build.EdgeList(keys, {"arc": arcs}, size)
    built = build.build(edges, build.BuildOptions(id_bits=bits))
    out = Adjacency(built.row_offsets, built.column_indices)
    moved_arcs = built.properties["arc"]
    new = Topology(out, topology.num_edges, topology.directed, Moved(topology, moved_arcs))
    return new, moved_arcs, sealed(old_of_new), sealed(new_of_old)

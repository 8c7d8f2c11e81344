"""The numbers of edges, and the order in which a user gave them.

An edge's number is its place in `Graph.edges()`: values of edges lie in memory in that order, and both arcs of an
undirected edge have the same number. Nothing is made before a program asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError
from vgraph.graph import build
from vgraph.records import dataclass

if TYPE_CHECKING:
    from vgraph.graph.topology import Topology

EDGE_NUMBER: Final = "edge.number"
"""The name under which kernels read the numbers of arcs as an edge property; no user's property has a dot."""


EDGE_REVERSE: Final = "edge.reverse"
"""The same for the arc in the other direction in a directed graph; the number of arcs where there is none."""


class Order(Protocol):
    """What tells in which order the edges of a graph were given."""

    def numbers(self, topology: Topology) -> NDArray[np.int64]:
        """For each edge as it was given its number, -1 if the graph left it out."""


@dataclass(frozen=True, eq=False)
class Given:
    """The caller's own arrays, not copied: where they change, the order of the edges is theirs again or lost."""

    sources: NDArray[Any]
    targets: NDArray[Any]
    options: build.BuildOptions

    def numbers(self, topology: Topology) -> NDArray[np.int64]:
        """See `Order`. Raises GraphError where the arrays are no longer those that the graph was made from."""
        keys = self._keys()
        loops = self.sources == self.targets
        kept = np.flatnonzero(~loops) if not self.options.self_loops and loops.any() else np.arange(keys.size)
        found = np.full(keys.size, -1, np.int64)
        stored = build.pack(*ends_of(topology)[:2])
        if self.options.multi_edges is True:
            by_key = kept[np.argsort(keys[kept], kind="stable")]
            same = stored.size == by_key.size
            if same:
                found[by_key] = np.arange(stored.size)
        else:
            found[kept] = np.searchsorted(stored, keys[kept])
            same = np.unique(found[kept]).size == stored.size and int(found.max(initial=-1)) < stored.size
        if not same or not np.array_equal(stored[found[kept]], keys[kept]):
            raise GraphError(
                "`sources` or `targets` changed after Graph.from_edges, and with them the order of the edges: "
                "pass copies, or keep_order=False"
            )
        return found

    def _keys(self) -> NDArray[np.uint64]:
        if self.options.directed:
            return build.pack(self.sources, self.targets)
        return build.pack(np.minimum(self.sources, self.targets), np.maximum(self.sources, self.targets))


@dataclass(frozen=True, eq=False)
class Moved:
    """The order of another graph's edges: its arc `arcs[i]` became arc i."""

    before: Topology
    arcs: NDArray[np.int64]

    def numbers(self, topology: Topology) -> NDArray[np.int64]:
        """See `Order`."""
        old = self.arcs if topology.directed else self.before.edge_numbers[self.arcs].astype(np.int64)
        new = np.empty(topology.num_edges, np.int64)
        new[old] = np.arange(old.size) if topology.directed else topology.edge_numbers
        order = self.before.edge_order
        if order is None:
            return new
        found = order.copy()
        found[order >= 0] = new[order[order >= 0]]
        return found


class Renumbered(Moved):
    """The same arcs, between vertices with other numbers; of an undirected edge `arcs` has the one the other way."""

    @property
    def same_way(self) -> NDArray[np.int64]:
        """For each arc the one that it was."""
        if self.before.directed:
            return self.arcs
        out = self.before.out
        return build.transpose(out.row_offsets, out.column_indices)[2].astype(np.int64)[self.arcs]


@dataclass(frozen=True, eq=False)
class Known:
    """An order that was found out before."""

    found: NDArray[np.int64]

    def numbers(self, topology: Topology) -> NDArray[np.int64]:
        """See `Order`."""
        return self.found


def ends_of(topology: Topology) -> tuple[NDArray[Any], NDArray[Any], Any]:
    """Sources and targets by edge number, and which arcs these are: for undirected edges those that do not go down."""
    out = topology.out
    sources, targets = build.sources_of(out.row_offsets, topology.id_dtype), out.column_indices
    once = slice(None) if topology.directed else sources <= targets
    return sources[once], targets[once], once


def numbers_of_arcs(topology: Topology) -> NDArray[Any]:
    """The number of the edge of each arc in out order, in `offset_dtype`.

    The k-th of parallel arcs one way is the same edge as the k-th the other way, as in the builder.
    """
    out = topology.out
    if topology.directed:
        return np.arange(topology.num_arcs, dtype=topology.offset_dtype)
    back = build.sources_of(out.row_offsets, topology.id_dtype) > out.column_indices
    numbers = np.cumsum(~back, dtype=topology.offset_dtype)
    numbers -= numbers.dtype.type(
        1
    )  # of arcs that go up; those before the first wrap round, and are replaced
    partner = build.transpose(out.row_offsets, out.column_indices)[2]
    numbers[back] = numbers[partner[back]]
    return numbers


def opposite_arcs(topology: Topology) -> NDArray[Any]:
    """For each arc of a directed graph the place of the one from its target to its source, in out order.

    Of parallel arcs the k-th one way belongs to the k-th the other way. `num_arcs` where there is none.
    """
    keys, incoming = build.pack(*ends_of(topology)[:2]), topology.in_
    turned = build.pack(build.sources_of(incoming.row_offsets, topology.id_dtype), incoming.column_indices)
    place = np.searchsorted(keys, turned) + np.arange(turned.size) - np.searchsorted(turned, turned)
    there = place < np.searchsorted(keys, turned, side="right")
    found = np.full(keys.size, keys.size, topology.offset_dtype)
    assert incoming.edge_ids is not None
    found[incoming.edge_ids[there]] = place[there]
    return found


def places_of_arcs(topology: Topology) -> NDArray[np.int64]:
    """For each arc in out order its place among all, as the user's edges stand; of an undirected edge the arc that does
    not go down comes first. An edge that was given several times, and is one here, stands where it came first."""
    if isinstance(topology.order, Renumbered):
        return topology.order.before.arc_places[topology.order.same_way]
    numbers, order = topology.edge_numbers, topology.edge_order
    place = np.arange(topology.num_edges)
    if order is not None:
        given = np.flatnonzero(order >= 0)[::-1]
        place[order[given]] = given
    down = build.sources_of(topology.out.row_offsets, topology.id_dtype) > topology.out.column_indices
    key = 2 * place[numbers] + (down & (not topology.directed))
    there = np.zeros(int(key.max(initial=-1)) + 1, np.int64)
    there[key] = 1
    ranks: NDArray[np.int64] = (np.cumsum(there) - 1)[key]
    return ranks


def in_given_order(values: NDArray[Any], topology: Topology) -> NDArray[Any]:
    """Values by edge number as the user's edges stand; 0 (false, none) for edges that the graph left out."""
    order = topology.edge_order
    if order is None:
        return values
    left_out = order < 0
    if not left_out.any():
        return values[order]
    rows = np.zeros((order.size, *values.shape[1:]), values.dtype)
    rows[~left_out] = values[order[~left_out]]
    return rows

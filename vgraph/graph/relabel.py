"""Graphs whose vertices are numbered in another order, so that what is read often lies close together."""

from __future__ import annotations

from hashlib import blake2b
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vgraph.errors import GraphError, shown
from vgraph.graph import build
from vgraph.graph.arrays import as_ids, check_below, sealed
from vgraph.graph.order import Renumbered
from vgraph.graph.topology import Adjacency, Topology
from vgraph.records import dataclass

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
        found: NDArray[Any] = table.take(ids, mode="clip").astype(ids.dtype)
        np.copyto(found, ids, where=(ids < 0) | (ids >= table.size))
        return found


ORDERS: Final = (
    "degree", "hub", "rcm", "bfs", "hilbert", "morton", "clusters", "gorder", "rabbit", "partition", "spac",
    "random",
)  # fmt: skip
"""The orders that have a name: each is a file of `vgraph.orders`, whose `order(graph)` gives `old_of_new`."""
BY_COORDINATES: Final = ("hilbert", "morton")
"""Those that depend on properties of vertices; the others depend on the arcs alone, and are kept with them."""
By = str | ArrayLike
"""An order by its name, or as an array: the vertices in it."""


@dataclass(frozen=True, eq=False)
class Overlap:
    """An order that is made while a program runs: see `vgraph.overlap`."""

    by: By


def order_of(graph: Graph, by: By, what: str = "by") -> tuple[str, NDArray[np.int64]]:
    """An order of the vertices, and the name under which what is made in it is kept with the arcs.

    Raises GraphError for what is neither the name of an order nor a permutation; `what` was given so.
    """
    try:
        return _order_of(graph, by)
    except GraphError as error:
        raise GraphError(f"{what}={shown(by)}: {error}") from None


def _order_of(graph: Graph, by: By) -> tuple[str, NDArray[np.int64]]:
    if not isinstance(by, str):
        old_of_new = _permutation(by, graph.num_vertices)
    elif by in BY_COORDINATES:
        old_of_new = _named(graph, by)
    elif by in ORDERS or graph.topology.has(f"order {by}"):
        return by, graph.kept_with_topology(f"order {by}", lambda: _named(graph, by))
    else:
        raise GraphError(f"the orders are {', '.join(map(repr, ORDERS))}, or a permutation")
    kind = by if isinstance(by, str) else "given"
    name = f"{kind} {blake2b(old_of_new.tobytes(), digest_size=16).hexdigest()}"
    return name, graph.kept_with_topology(f"order {name}", lambda: sealed(old_of_new))


def _named(graph: Graph, by: str) -> NDArray[np.int64]:
    found: NDArray[np.int64] = import_module(f"vgraph.orders.{by}").order(graph)
    assert (np.bincount(found, minlength=graph.num_vertices) == 1).all(), f"{by} is no permutation"
    return sealed(found)


def _permutation(given: ArrayLike, size: int) -> NDArray[np.int64]:
    """The vertices as they were given, once each."""
    ids = as_ids(given, "an order")
    check_below(ids, "an order", size)
    if ids.size != size or (np.bincount(ids.astype(np.int64), minlength=size) != 1).any():
        raise GraphError(f"each of the {size:,} vertices once, in the new order")
    return ids.astype(np.int64)


def permuted(graph: Graph, by: By) -> Permuted:
    """The arcs with their vertices in an order: made on first use, then kept with them."""
    name, old_of_new = order_of(graph, by)
    return graph.kept_with_topology(f"relabelled by {name}", lambda: _moved(graph.topology, old_of_new))


def made_beside(graph: Graph, by: By) -> str:
    """Make what `permuted` gives while others use the graph, whose lock is held only to keep it; the order's name."""
    if (
        isinstance(by, str)
        and by in ORDERS
        and by not in BY_COORDINATES
        and not graph.topology.has(f"order {by}")
    ):
        found = _named(graph, by)
        graph.kept_with_topology(f"order {by}", lambda: found)
    name, old_of_new = order_of(graph, by)
    if not graph.topology.has(f"relabelled by {name}"):
        moved = _moved(graph.topology, old_of_new)
        graph.kept_with_topology(f"relabelled by {name}", lambda: moved)
    return name


def _moved(topology: Topology, old_of_new: NDArray[np.int64]) -> Permuted:
    before, size = topology.out, old_of_new.size
    new_of_old = np.empty_like(old_of_new)
    new_of_old[old_of_new] = np.arange(size)
    arcs, degrees = build.arcs_of(before.row_offsets, old_of_new)
    offsets = np.concatenate(([0], np.cumsum(degrees))).astype(topology.offset_dtype)
    columns = new_of_old.astype(topology.id_dtype)[before.column_indices[arcs]]
    # A transpose has sorted rows, and that of an undirected graph is the graph. Parallel arcs keep their order, so both
    # arcs of an edge stay partners, and each may stand for the other.
    for _ in range(1 + topology.directed):
        offsets, columns, places = build.transpose(offsets, columns)
        arcs = arcs[places]
    out = Adjacency(offsets, columns)
    new = Topology(out, topology.num_edges, topology.directed, Renumbered(topology, arcs))
    return new, arcs, sealed(old_of_new), sealed(new_of_old)

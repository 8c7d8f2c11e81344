"""Placements by which members of a set may have some of the arcs of a vertex each: cuts through vertices.

A vertex is still owned by one member; others that have arcs of it have it as a ghost. By `cut_hubs` an arc of a hub is
with its other end, so what hubs and others tell each other stays where that is (Kaleem 2016, section 4.7: delegates);
by a partition of the edges each part is a member's.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import ParameterError, shown
from vgraph.graph.graph import Graph
from vgraph.graph.topology import Adjacency
from vgraph.records import dataclass
from vgraph.tracebacks import public

Holder = Callable[[Adjacency], NDArray[Any]]
"""The member that has each arc, in the order of one of the two directions."""
TRIED: Final = (1.0, 2.0, 3.0)
"""How many times the average degree a hub may have at least."""


class Cut(ABC):
    """Who owns which vertices, and who has which arcs."""

    @property
    @abstractmethod
    def key(self) -> Hashable:
        """Equal for what places alike."""

    @abstractmethod
    def place(self, graph: Graph, shares: Sequence[float]) -> tuple[NDArray[np.int64], Holder]:
        """The member of each vertex, and of each arc, where the k-th is to have about `shares[k]` of all work."""


Placement = NDArray[np.int64] | Cut | None
"""The member of each vertex, or a cut; None: ranges of vertices."""


@dataclass(frozen=True)
class HubCut(Cut):
    """`cut_hubs`; above None: `fitting` says how many times."""

    above: float | None

    @property
    def key(self) -> Hashable:
        return self

    def fitting(self, graph: Graph, shares: Sequence[float]) -> HubCut | None:
        """With a number, that which leaves the fewest values to exchange; None where ranges of vertices leave fewer."""
        if self.above is not None:
            return self
        kept = _fitting.setdefault(graph, {})
        if tuple(shares) not in kept:
            cuts = [HubCut(times) for times in (*TRIED, np.inf)]
            costs = [_copies(graph, *cut.place(graph, shares), len(shares)) for cut in cuts]
            costs[-1] /= 2  # without hubs they go one way only
            best = int(np.argmin(costs))
            kept[tuple(shares)] = cuts[best] if best < len(TRIED) else None
        return kept[tuple(shares)]

    def place(self, graph: Graph, shares: Sequence[float]) -> tuple[NDArray[np.int64], Holder]:
        assert self.above is not None
        return _by_hubs(graph, shares, self.above)


_fitting: weakref.WeakKeyDictionary[Graph, dict[tuple[float, ...], HubCut | None]] = (
    weakref.WeakKeyDictionary()
)


@dataclass(frozen=True, eq=False)
class EdgeCut(Cut):
    """A member for each arc in out order."""

    members: NDArray[Any]

    @cached_property
    def key(self) -> Hashable:
        return self.members.tobytes()

    def place(self, graph: Graph, shares: Sequence[float]) -> tuple[NDArray[np.int64], Holder]:
        k, members = len(shares), self.members.astype(np.int64)
        ends = np.concatenate([rows_of(graph.out), graph.out.column_indices.astype(np.int64)])
        held = np.bincount(ends * k + np.concatenate([members, members]), minlength=graph.num_vertices * k)
        owner = held.reshape(graph.num_vertices, k).argmax(axis=1)
        return owner, lambda side: members if side.edge_ids is None else members[side.edge_ids]


def rows_of(side: Adjacency) -> NDArray[np.int64]:
    """The vertex in whose row each arc is."""
    offsets = side.row_offsets.astype(np.int64)
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def shared_out(work: NDArray[Any], shares: Sequence[float]) -> NDArray[np.int64]:
    """A member for each vertex: ranges, such that the k-th has about `shares[k]` of the work; shares are positive, and
    add up to anything."""
    done = np.cumsum(work, dtype=np.float64)
    ends = np.cumsum(np.asarray(shares, np.float64)) / np.sum(shares)
    total = done[-1] if done.size else 0.0
    return np.searchsorted(ends[:-1] * total, done - 0.5, side="right").astype(np.int64)


def _by_hubs(graph: Graph, shares: Sequence[float], above: float) -> tuple[NDArray[np.int64], Holder]:
    degree = graph.out_degree.astype(np.int64)
    if graph.directed:
        degree = degree + np.bincount(graph.out.column_indices, minlength=graph.num_vertices)
    hub = degree > above * (degree.mean() if degree.size else 0.0)

    def anchors(side: Adjacency) -> NDArray[np.int64]:
        rows = rows_of(side)
        return np.where(hub[rows], side.column_indices.astype(np.int64), rows)

    work = np.bincount(anchors(graph.out), minlength=graph.num_vertices) + 1
    owner = shared_out(work, shares)
    return owner, lambda side: owner[anchors(side)]


def _copies(graph: Graph, owner: NDArray[np.int64], holder: Holder, members: int) -> float:
    """How many ghosts all members have."""
    holds, rows = holder(graph.out), rows_of(graph.out)
    near = np.zeros((members, graph.num_vertices), np.bool_)
    near[holds, rows] = near[holds, graph.out.column_indices] = True
    near[owner, np.arange(graph.num_vertices)] = False
    return float(np.count_nonzero(near))


@public
def cut_hubs(above: float | None = None) -> HubCut:
    """A placement on a set of devices in which hubs are everybody's: `run(device=[...], placement=vg.cut_hubs(2))`.

    An arc of a vertex with more than `above` times the average degree is had by the member that has its other end. By
    default `above` is 1, 2 or 3, or members own ranges of vertices, whatever leaves the fewest values to exchange.
    """
    number = isinstance(above, int | float) and not isinstance(above, bool) and above >= 0
    if above is not None and not number:
        raise ParameterError(f"above={shown(above)}: a number, 0 or more, of times the average degree")
    return HubCut(above if above is None else float(above))

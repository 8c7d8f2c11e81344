"""A graph placed on the members of a set: who owns which vertices, and the part of the graph that each member has.

A part is a graph of its own: first the vertices that the member owns, ascending, with their arcs, then its *ghosts*,
the other ends of these arcs that others own, by owner and ascending, without arcs (but for cuts, `cuts.py`). Rows keep
the order of the whole graph. Parts are kept with the graph that they are made of.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.graph.build import arcs_of
from vgraph.graph.cuts import Holder, shared_out
from vgraph.graph.graph import Graph
from vgraph.graph.topology import Adjacency, Topology
from vgraph.records import dataclass

Held = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Arcs that a member has: the vertices in whose rows they are, ascending, and their places."""
Side = tuple[Adjacency, NDArray[np.int64]]
_KEPT: Final = 4
"""Placements of a graph that are kept, the last ones used."""
_ALONE: Final = 1 << 16
"""Arcs of a graph whose parts are made one after the other."""
_lock = threading.Lock()
_placed: weakref.WeakKeyDictionary[Graph, dict[object, tuple[Part, ...]]] = weakref.WeakKeyDictionary()


@dataclass(frozen=True, eq=False, repr=False)
class Part:
    """What one member has of a graph."""

    graph: Graph
    numbers: NDArray[Any]
    """The vertices of the part by their ids in the whole graph, in its `id_dtype`: owned ones, then ghosts."""
    owned: NDArray[Any]
    """The owned ones by their numbers in the part, ascending."""
    arcs: int
    """Arcs that leave owned vertices."""
    ghosts_at: NDArray[Any]
    """The ghosts by their numbers in the part, by owner."""
    ghosts: NDArray[np.uint64]
    """The ghosts that member k owns are those from `ghosts[k]` to `ghosts[k + 1]`."""
    shared: NDArray[np.uint64]
    """Where what member k has as ghosts begins, likewise, in `at`: numbers of owned vertices, as it has its ghosts."""
    at: NDArray[Any]
    parts: list[Part]
    """Those of all members."""

    @cached_property
    def copies(self) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
        """Who else has each vertex: rows by vertex, the member of each entry, and the number that it has there. Of a
        ghost that is its owner, of an owned vertex each that has it as a ghost."""
        me, dtype = self.parts.index(self), self.numbers.dtype
        vertices = np.concatenate([self.ghosts_at, self.at]).astype(np.int64)
        starts = (self.ghosts.astype(np.int64), self.shared.astype(np.int64))
        members = np.concatenate([np.repeat(np.arange(len(self.parts)), x[1:] - x[:-1]) for x in starts])
        there = [p.at[int(p.shared[me]) : int(p.shared[me + 1])] for p in self.parts]
        there += [p.ghosts_at[int(p.ghosts[me]) : int(p.ghosts[me + 1])] for p in self.parts]
        order = np.argsort(vertices, kind="stable")
        rows = np.zeros(len(self.numbers) + 1, np.int64)
        rows[1:] = np.cumsum(np.bincount(vertices, minlength=len(self.numbers)))
        return rows, members[order].astype(dtype), np.concatenate(there)[order].astype(dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of the part, properties of the graph and lists of ghosts included."""
        inward = self.graph.in_ if self.graph.directed and self.graph.has_transpose else None
        more = () if inward is None else (inward.row_offsets, inward.column_indices)
        lists = (self.numbers, self.ghosts, self.shared, self.at, *more, *self.__dict__.get("copies", ()))
        return int(self.graph.nbytes + sum(a.nbytes for a in lists))

    def here(self, num_vertices: int) -> NDArray[Any]:
        """For each vertex of the whole graph its number in the part, or none (all bits set)."""
        found = np.full(num_vertices, -1, np.int64).astype(self.numbers.dtype)
        found[self.numbers] = np.arange(len(self.numbers), dtype=found.dtype)
        return found


def ranges(graph: Graph, shares: Sequence[float]) -> NDArray[np.int64]:
    """A member for each vertex: ranges of vertices, such that the k-th has about `shares[k]` of the vertices and arcs,
    counted together; shares are positive, and add up to anything."""
    return shared_out(graph.out_degree.astype(np.float64) + 1, shares)


def placed(
    graph: Graph,
    place: Callable[[], tuple[NDArray[np.int64], Holder | None]],
    members: int,
    key: object,
    *,
    both: bool = False,
    whole: bool = False,
) -> tuple[Part, ...]:
    """The part of each member, where `place` gives the member of each vertex, and of each arc (none: that of the vertex
    in whose row it is); `key` stands for `place` and `members`.

    `both`: also with the arcs that enter owned vertices, which an undirected graph has in any case. `whole`: every part
    is all of the graph, in its own numbers; they share its arcs.
    """
    both = both and graph.directed
    with _lock:
        kept = _placed.setdefault(graph, {})
        key = key, both, whole
        kept[key] = found = kept.pop(key, None) or _parts(graph, *place(), members, both, whole)
        while len(kept) > _KEPT:
            del kept[next(iter(kept))]
        return found


def _parts(
    graph: Graph,
    owner: NDArray[np.int64],
    holder: Holder | None,
    members: int,
    both: bool,
    whole: bool,
) -> tuple[Part, ...]:
    sides = [graph.out, graph.in_] if both else [graph.out]
    owned = [np.flatnonzero(owner == m) for m in range(members)]
    holds = [holder(side) for side in sides] if holder is not None and not whole else []

    def reach(m: int) -> tuple[list[Held], NDArray[np.int64]]:
        """What arcs a member has, and its ghosts."""
        near = np.full(graph.num_vertices, whole)
        of_cut = [_held(side, members == m) for side, members in zip(sides, holds, strict=False)]
        held = [] if whole else of_cut or [_rows(side, owned[m]) for side in sides]
        for side, (rows, places) in zip(sides, held, strict=False):
            near[rows] = near[side.column_indices[places]] = True
        near[owner == m] = False
        found = np.flatnonzero(near)
        return held, found[np.argsort(owner[found], kind="stable")]

    each = _side_by_side(graph, members)
    held, ghosts = zip(*each(reach, range(members)), strict=True)
    starts = [np.searchsorted(owner[g], np.arange(members + 1)) for g in ghosts]
    # what each shares, by who has it as a ghost
    whose = np.repeat(np.arange(members), [len(g) for g in ghosts])
    every = np.concatenate(ghosts)
    pair = owner[every] * members + whose
    every = every[np.argsort(pair, kind="stable")]
    ends = np.cumsum(np.bincount(pair, minlength=members * members)).reshape(members, members)
    made: list[Part] = []

    def part(m: int) -> Part:
        begin = ends[m - 1, -1] if m else 0
        at = np.searchsorted(owned[m], every[begin : ends[m, -1]])
        shared = np.concatenate([[0], ends[m] - begin])
        lists = (graph, owned[m], ghosts[m], starts[m], shared, at)
        return _copy(*lists, made) if whole else _part(*lists, held[m], made)

    made += each(part, range(members))
    return tuple(made)


def _side_by_side(
    graph: Graph, members: int
) -> Callable[[Callable[[int], Any], Iterable[int]], Iterable[Any]]:
    """What does something for each member: at the same time, where there is enough to do."""
    if graph.num_arcs < _ALONE:
        return map
    from concurrent.futures import ThreadPoolExecutor

    def each(do: Callable[[int], Any], numbers: Iterable[int]) -> list[Any]:
        with ThreadPoolExecutor(min(members, os.cpu_count() or 1)) as pool:
            return list(pool.map(do, numbers))

    return each


def _rows(side: Adjacency, vertices: NDArray[np.int64]) -> Held:
    """The arcs of these vertices, row after row."""
    places, counts = arcs_of(side.row_offsets, vertices)
    return np.repeat(vertices, counts), places


def _held(side: Adjacency, held: NDArray[np.bool_]) -> Held:
    """The arcs that are held."""
    places = np.flatnonzero(held)
    return np.searchsorted(side.row_offsets, places, side="right") - 1, places


def _part(
    graph: Graph,
    owned: NDArray[np.int64],
    ghosts: NDArray[np.int64],
    starts: NDArray[np.int64],
    shared: NDArray[np.int64],
    at: NDArray[np.int64],
    held: list[Held],
    parts: list[Part],
) -> Part:
    numbers = np.concatenate([owned, ghosts]).astype(graph.id_dtype)
    here = np.zeros(graph.num_vertices, graph.id_dtype)
    here[numbers] = np.arange(len(numbers), dtype=graph.id_dtype)

    def side(whole: Adjacency, rows: NDArray[np.int64], places: NDArray[np.int64]) -> Side:
        local = here[rows].astype(np.int64)
        if (local[1:] < local[:-1]).any():  # of a cut
            places = places[np.argsort(local, kind="stable")]
        offsets = np.zeros(len(numbers) + 1, graph.offset_dtype)
        offsets[1:] = np.cumsum(np.bincount(local, minlength=len(numbers)))
        # where arcs lie in out order means nothing here: edge properties of in-arcs are given, `in_property` below
        ids = np.zeros(0, graph.offset_dtype) if whole is not graph.out else None
        return Adjacency(offsets, here[whole.column_indices[places]], ids), places

    out, places = side(graph.out, *held[0])
    arcs = len(places)
    vertex = {name: values[numbers] for name, values in graph.vertex_properties.items()}
    vertex |= {"set.number": numbers, "set.mine": np.arange(len(numbers)) < len(owned)}
    vertex["set.degree.out"] = graph.out_degree[numbers].astype(np.int64)
    into, in_places = side(graph.in_, *held[1]) if held[1:] else (None, places)
    if into is not None or not graph.directed:
        vertex["set.degree.in"] = graph.in_degree[numbers].astype(np.int64)
    edge = {name: values[places] for name, values in graph.edge_properties.items()}
    topology = Topology(out, len(places), graph.directed, None, into)
    if into is not None:
        inward = {name: graph.in_property(name)[in_places] for name in edge}
        made = Graph.with_in_properties(topology, edge, vertex, inward)
    else:
        made = Graph(topology, edge, vertex)
    numbered = made.vertex_properties["set.number"]
    places = np.arange(len(numbers), dtype=graph.id_dtype)
    lists = (
        places[len(owned) :],
        starts.astype(np.uint64),
        shared.astype(np.uint64),
        at.astype(graph.id_dtype),
    )
    return Part(made, numbered, places[: len(owned)], arcs, *lists, parts)


def _copy(
    graph: Graph,
    owned: NDArray[np.int64],
    ghosts: NDArray[np.int64],
    starts: NDArray[np.int64],
    shared: NDArray[np.int64],
    at: NDArray[np.int64],
    parts: list[Part],
) -> Part:
    """All of the graph, as a part."""
    mine = np.zeros(graph.num_vertices, np.bool_)
    mine[owned] = True
    made = Graph(graph.topology, graph.edge_properties, {**graph.vertex_properties, "set.mine": mine})
    ids = np.arange(graph.num_vertices, dtype=graph.id_dtype)
    arcs = int(graph.out_degree[owned].sum())
    lists = (starts.astype(np.uint64), shared.astype(np.uint64), ids[owned[at]])
    return Part(made, ids, ids[owned], arcs, ids[ghosts], *lists, parts)

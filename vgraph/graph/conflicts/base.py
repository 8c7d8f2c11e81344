"""What an offline plan of conflicts is, and how one is put together from keys of arcs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.graph.build import sources_of
from vgraph.graph.graph import Graph

FirstFit = Callable[..., NDArray[np.uint32]]
"""The color of each edge; given are its two ends, and where groups of edges begin, if there are several, and end."""


@dataclass(frozen=True, eq=False)
class Plan:
    """An order of all arcs in phases, such that activations which write both ends need no locks.

    `order` (int64) is a permutation of the arcs, given by their places in out order. `cells` (int64) has the offsets of
    cells in `order`, and the last one's end; None where each arc is a cell of its own. `phases` (int64) has the offsets
    of phases in `cells`, or without cells in `order`. Arcs of different cells of a phase share no vertex; those of one
    cell run in their order. Cells of a phase may run at the same time, and between phases all wait for each other: the
    result is that of a serial run in `order`, bit for bit. `d_max` is the most arcs that touch a vertex (a self-loop
    counts once): there cannot be fewer steps one after the other. `seconds`: what it took to make.

    `steps` (int64), where there are cells: the offsets of steps in `order`, and `firsts` those of cells in `steps`. The
    arcs of one step share no vertex, so that several threads may share a cell.
    """

    order: NDArray[np.int64]
    cells: NDArray[np.int64] | None
    phases: NDArray[np.int64]
    d_max: int
    seconds: float = 0.0
    steps: NDArray[np.int64] | None = None
    firsts: NDArray[np.int64] | None = None

    @property
    def num_phases(self) -> int:
        """How many phases there are, none of them empty."""
        return self.phases.size - 1


@dataclass(frozen=True, eq=False)
class Ends:
    """The arcs of a graph in out order, by their ends, in uint32."""

    num_vertices: int
    sources: NDArray[np.uint32]
    targets: NDArray[np.uint32]

    @classmethod
    def of(cls, graph: Graph) -> Ends:
        """Those of a graph: it has at most 2**32 vertices."""
        sources = sources_of(graph.out.row_offsets, np.dtype(np.uint32))
        return cls(graph.num_vertices, sources, graph.out.column_indices.astype(np.uint32, copy=False))

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """How many arcs touch each vertex."""
        loops = self.sources == self.targets
        n = self.num_vertices
        found = np.bincount(self.sources, minlength=n) + np.bincount(self.targets, minlength=n)
        return found - np.bincount(self.sources[loops], minlength=n)


def plan(ends: Ends, *keys: NDArray[Any]) -> Plan:
    """The plan whose phases are the arcs with equal `keys`, the first key counting most; a phase is in arc order."""
    order = ascending(*keys)
    return Plan(order, None, starts(*keys, order=order), int(ends.degrees.max(initial=0)))


def by_cells(ends: Ends, first_fit: FirstFit, phase: NDArray[Any], cell: NDArray[Any]) -> Plan:
    """The plan whose cells are the arcs with equal `phase` and `cell`, in steps, busy vertices first.

    The steps of a cell are the colors of a first fit of its arcs, those with the most conflicts first; by falling size.
    """
    phase, cell = smallest(phase), smallest(cell)
    degrees = smallest(ends.degrees)
    conflicts = degrees[ends.sources] + degrees[ends.targets].astype(np.uint64)
    order = ascending(phase, cell, conflicts.max(initial=0) - conflicts)
    cells, d_max = starts(phase, cell, order=order), int(degrees.max(initial=0))
    if cells.size == order.size + 1:
        return Plan(order, None, starts(phase, order=order), d_max)
    colors = first_fit(ends.sources[order], ends.targets[order], cells)
    number = np.repeat(np.arange(cells.size - 1, dtype=np.uint32), np.diff(cells))
    by_color = ascending(number, colors)
    steps = starts(colors, order=by_color, also=cells)
    firsts, sizes = np.searchsorted(steps, cells), np.diff(steps)
    falling = ascending(np.repeat(np.arange(firsts.size - 1), np.diff(firsts)), sizes.max() - sizes)
    begins, sizes = steps[falling], sizes[falling]
    steps = np.append(0, np.cumsum(sizes))
    order = order[by_color[np.arange(order.size) + np.repeat(begins - steps[:-1], sizes)]]
    phases = starts(phase, order=order[cells[:-1]])
    return Plan(order, cells, phases, d_max, steps=steps, firsts=firsts)


def ascending(*keys: NDArray[Any]) -> NDArray[np.int64]:
    """Positions by ascending keys, none of them negative, the first counting most; equal ones as they stand.

    Keys and positions are sorted as words of 64 bits where they fit into them, which takes NumPy a third of the time of
    a counting sort for each key, by SciPy's kernel: O(positions + largest key).
    """
    size = keys[0].size
    bits = [int(key.max(initial=0)).bit_length() for key in keys]
    position = np.uint64(max(size - 1, 0).bit_length())
    if sum(bits) + int(position) <= 64:
        words = np.zeros(size, np.uint64)
        for key, width in zip(keys, bits, strict=True):
            words <<= np.uint64(width)
            words |= key.astype(np.uint64, copy=False)
        words <<= position
        words |= np.arange(size, dtype=np.uint64)
        words.sort()
        words &= (np.uint64(1) << position) - np.uint64(1)
        return words.view(np.int64)

    from scipy.sparse import _sparsetools as kernels

    order: NDArray[np.int64] = np.arange(keys[0].size)
    for key in reversed(keys):
        top = 1 + int(key.max(initial=0))
        offsets, rows, found = np.empty(top + 1, np.int64), np.empty_like(order), np.empty_like(order)
        columns = key[order].astype(np.int64, copy=False)
        kernels.csr_tocsc(1, top, np.array([0, order.size]), columns, order, offsets, rows, found)
        order = found
    return order


def smallest(key: NDArray[Any]) -> NDArray[Any]:
    """The key, none of whose values is negative, in a type that just holds them."""
    return key.astype(np.min_scalar_type(int(key.max(initial=0))), copy=False)


def shuffled(key: NDArray[Any]) -> NDArray[np.int64]:
    """The key, its values permuted by lot, always in the same way."""
    found: NDArray[np.int64] = np.random.default_rng(0).permutation(1 + int(key.max(initial=0)))[key]
    return found


def starts(
    *keys: NDArray[Any], order: NDArray[np.int64], also: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Where in `order` one of the keys has another value than before, and the end; and where `also` says so."""
    new = np.zeros(order.size, bool)
    new[:1] = True
    if also is not None:
        new[also[:-1]] = True
    for key in keys:
        there = key[order]
        new[1:] |= there[1:] != there[:-1]
    return np.append(np.flatnonzero(new), order.size)

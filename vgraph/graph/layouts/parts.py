"""In-arcs by the parts of an edge partition, in slices of 16 rows: part after part stays in a core's cache.

A row is all arcs of one destination in one part. Parts that write no vertex in common are a *phase*: whoever has one
has its vertices to itself, and between two phases is a barrier. Phases are the colors of a first fit. Where hubs are in
all parts, each is a phase of its own, and threads share its rows.
"""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError, shown
from vgraph.graph.build import sources_of
from vgraph.graph.layouts.base import ArcLayout, Arcs, Parameter, Prepared
from vgraph.graph.layouts.sell import LANES, tasks_of
from vgraph.graph.order import EDGE_NUMBER

if TYPE_CHECKING:
    from vgraph.graph.graph import Graph

METHOD = "spac"
"""How edges are divided for who asks for a number of parts; tests have a method that compiles nothing."""
COLORS: Final = 64
"""Phases that parts may share; who finds none of them free has one alone."""


def build(arcs: Arcs, given: Parameter) -> dict[str, Any]:
    """The in-arcs by `given`: an edge property of ints from 0 on, or the number of parts of `vgraph.edge_partition`.

    Phase p has the tasks `bounds[p] .. bounds[p + 1]`, task t the slices `tasks[t] .. tasks[t + 1]`, all of one part,
    slice i the steps `steps[i] .. steps[i + 1]` (int64), of which its shortest row has the first `full[i]`. Step k has
    an arc of lane l at `16 * k + l`: from `sources[...]`, num_vertices where the row has ended; its number among the
    in-arcs is `arcs[...]`. Row `16 * i + l` enters `vertices[row]`, num_vertices where it has none, and has
    `lengths[row]` arcs. Memory: an id and an offset for an arc, an id and 4 bytes for a row. Numbers: phases
    (`count`), parts, rows.
    """
    (row_offsets, columns), n, m = arcs.adjacency("in"), arcs.num_vertices, arcs.num_arcs
    part = part_of_arcs(arcs.graph, given)
    targets = sources_of(row_offsets, np.dtype(np.int64))
    order = np.argsort(part, kind="stable")  # by part, then by target
    part, targets = part[order], targets[order]
    new = np.ones(m, np.bool_)
    new[1:] = (part[1:] != part[:-1]) | (targets[1:] != targets[:-1])
    begins = np.flatnonzero(new)
    length = np.diff(np.append(begins, m))
    row_part, row_target = part[begins], targets[begins]
    phase = _phases(row_part, row_target, n)
    by_length = np.lexsort((row_target, -length, row_part, phase))
    # Rows to places: a part begins with a slice.
    sorted_part = row_part[by_length]
    edges = np.flatnonzero(np.append(True, sorted_part[1:] != sorted_part[:-1]) if begins.size else begins)
    sizes = np.diff(np.append(edges, begins.size))
    slices = np.cumsum(-(-sizes // LANES)) - -(-sizes // LANES)
    place = np.empty(begins.size, np.int64)
    place[by_length] = np.arange(begins.size) + np.repeat(slices * LANES - edges, sizes)
    total = int((-(-sizes // LANES)).sum())
    vertices, lengths = np.full(total * LANES, n, columns.dtype), np.zeros(total * LANES, np.uint32)
    vertices[place], lengths[place] = row_target, length
    by_slice = lengths.reshape(-1, LANES).astype(np.int64)
    steps = np.zeros(total + 1, np.int64)
    np.cumsum(by_slice.max(axis=1, initial=0), out=steps[1:])
    # Arcs to slots.
    slot = np.repeat(
        LANES * steps[place // LANES] + place % LANES - LANES * begins, length
    ) + LANES * np.arange(m)
    sources = np.full(LANES * int(steps[-1]), n, columns.dtype)
    numbers = np.zeros(sources.size, row_offsets.dtype)
    sources[slot], numbers[slot] = columns[order], order
    phases = phase[by_length][edges]
    first = (
        np.flatnonzero(np.append(True, phases[1:] != phases[:-1])) if edges.size else np.zeros(1, np.int64)
    )
    starts = np.append(slices, total)
    tasks, bounds = tasks_of(steps, starts, starts[np.append(first, slices.size)])
    return {
        "bounds": bounds, "tasks": tasks, "steps": steps, "full": by_slice.min(axis=1, initial=1 << 32),
        "sources": sources, "vertices": vertices, "lengths": lengths, "arcs": numbers,
        "count": first.size, "parts": edges.size, "rows": begins.size,
    }  # fmt: skip


def order(arcs: Arcs, made: Prepared, values: Any, given: Parameter) -> Any:
    """Values by in-arc in the order of `sources`; where no arc is, any."""
    return values[made.arrays["arcs"]]


PARTS: Final = ArcLayout(
    "parts",
    {"bounds": "int64", "tasks": "int64", "steps": "int64", "full": "int64", "sources": "id", "vertices": "id",
     "lengths": "uint32", "arcs": "offset"},
    ("count", "parts", "rows"),
    build,
    order,
)  # fmt: skip


def part_of_arcs(graph: Graph, given: Parameter) -> NDArray[np.int64]:
    """The part of each in-arc. Raises GraphError for a property that tells none."""
    if isinstance(given, int):
        # Of what stands above, as orders are.
        found = import_module("vgraph.partitioning").edge_partition(graph, given, METHOD)
        return np.asarray(found.numbered[graph.in_property(EDGE_NUMBER)], np.int64)
    if given not in graph.edge_properties:
        raise GraphError(f"parts={shown(given)}: the graph has no edge property of that name")
    values = graph.in_property(given)
    most, whole = np.iinfo(np.int64).max, values.dtype.kind in "iu" and values.ndim == 1
    if values.size and not (whole and values.min() >= 0 and values.max() <= most):
        raise GraphError(f"parts={shown(given)}: the part of an edge is an int from 0 to 2**63 - 1")
    return values.astype(np.int64)


def _phases(part: NDArray[np.int64], target: NDArray[np.int64], num_vertices: int) -> NDArray[np.int64]:
    """The phase of each row, by its part; rows are sorted by part."""
    taken, found, alone = np.zeros(num_vertices, np.uint64), np.empty(part.size, np.int64), COLORS
    cuts = np.flatnonzero(np.diff(part, prepend=-1))
    for begin, end in pairwise(np.append(cuts, part.size)):
        free = ~int(np.bitwise_or.reduce(taken[target[begin:end]])) & ((1 << COLORS) - 1)
        phase = (free & -free).bit_length() - 1
        if free:
            taken[target[begin:end]] |= np.uint64(1 << phase)
        else:
            phase, alone = alone, alone + 1
        found[begin:end] = phase
    return found

"""Arcs in the order of a plan: operators that write both ends of their edges run along it without locks."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from vgraph.graph import conflicts
from vgraph.graph.build import sources_of
from vgraph.graph.layouts.base import ArcLayout, Arcs, Prepared

coloring: conflicts.FirstFit | None = None
"""Colors edges in machine code; the compiler, which stands above, puts it here (`vgraph/compiler/__init__.py`)."""


def build(arcs: Arcs, *parameters: int, kind: str) -> dict[str, Any]:
    """All arcs, each once, in cells, and these in phases.

    Arc `k` goes from `sources[k]` to `targets[k]`; it is `arcs[k]` in out order. Cell `c` has the arcs
    `bounds[c] .. bounds[c + 1]` (int64), and phase `p` the cells `phases[p] .. phases[p + 1]` (int64). With 0 `cells`
    every arc is a cell, and `bounds` is of no meaning. Two cells of a phase share no vertex. Cell `c` has the steps
    `firsts[c] .. firsts[c + 1]` (int64), and step `s` the arcs `steps[s] .. steps[s + 1]` (int64), which share no
    vertex. `count` is the number of phases, `d_max` the most arcs at a vertex. Memory: two ids and an offset for each
    arc, 16 bytes for each cell, 8 for each step.
    """
    if kind == "sequential":
        places = arcs.graph.topology.arc_places
        order = np.empty_like(places)
        order[places] = np.arange(places.size)
        plan = conflicts.Plan(
            order, None, np.array([0, order.size]), int(conflicts.Ends.of(arcs.graph).degrees.max(initial=0))
        )
    else:
        assert coloring is not None
        plan = conflicts.plan(arcs.graph, ".".join((kind, *map(str, parameters))), coloring)
    none = np.zeros(2, np.int64)
    order, cells, steps, firsts = (
        none if array is None else array for array in (plan.order, plan.cells, plan.steps, plan.firsts)
    )
    phases = plan.phases if plan.num_phases else none
    xp, (row_offsets, columns) = arcs.xp, arcs.adjacency("out")
    sources = sources_of(arcs.on_host(row_offsets), columns.dtype)
    return {
        "sources": xp.asarray(sources[order]),
        "targets": columns[xp.asarray(order)],
        "arcs": xp.asarray(order.astype(row_offsets.dtype)),
        "bounds": xp.asarray(cells),
        "phases": xp.asarray(phases),
        "steps": xp.asarray(steps),
        "firsts": xp.asarray(firsts),
        "cells": 0 if plan.cells is None else cells.size - 1,
        "count": phases.size - 1,
        "d_max": plan.d_max,
    }


def order(arcs: Arcs, made: Prepared, values: Any, *parameters: int) -> Any:
    """Values by arc in out order, in that of the plan."""
    return values[made.arrays["arcs"]]


_PARTS: Final = ("bounds", "phases", "steps", "firsts")
_ARRAYS: Final = {"sources": "id", "targets": "id", "arcs": "offset", **dict.fromkeys(_PARTS, "int64")}
PLANS: Final = tuple(
    ArcLayout(kind, _ARRAYS, ("cells", "count", "d_max"), partial(build, kind=kind), order, side="out")
    for kind in conflicts.KINDS
)

"""Offline plans for operators that write both ends of an arc: made once for a graph, and kept with its arcs.

A key, `sub_graphs.256`, names a kind with its parameters. `base.py` says what a plan is.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from vgraph.graph.arrays import sealed
from vgraph.graph.conflicts.base import Ends, FirstFit, Plan
from vgraph.graph.conflicts.dealt import Turns, dealt_blocks, turns
from vgraph.graph.conflicts.diagonals import blocked_diagonals, even_blocks
from vgraph.graph.conflicts.matchings import all_graph_edges, all_graph_nodes, colored, sub_graphs
from vgraph.graph.graph import Graph
from vgraph.graph.order import Renumbered


def sequential(ends: Ends) -> Plan:
    """One cell: all arcs, in out order."""
    size = ends.sources.size
    whole = np.array([0, size]) if size > 1 else None
    return Plan(np.arange(size), whole, np.array([0, 1] if size else [0]), int(ends.degrees.max(initial=0)))


FEW: Final = 8
"""Arcs of a source, on average."""


def shuffled(ends: Ends, sources: int = 0) -> Plan:
    """One phase, in an order by lot, or in windows of the arcs of about so many sources: who runs along takes locks.

    In windows, arcs of sources that have few stay as they lie: those of one hardly wait for each other.
    """
    size = ends.sources.size
    rows = max(1, int(np.count_nonzero(np.bincount(ends.sources))))
    window = size if not sources else sources * size // rows if size >= FEW * rows else 1
    lot = np.random.default_rng(0).permutation(min(window, size))
    order = (np.arange(0, size, max(1, lot.size))[:, None] + lot).ravel()
    return Plan(
        order[order < size], None, np.array([0, size] if size else [0]), int(ends.degrees.max(initial=0))
    )


KINDS: Final[dict[str, Callable[..., Plan]]] = {
    "sequential": sequential,
    "diagonal": lambda ends, first_fit: blocked_diagonals(ends, first_fit, 1, 1),
    "blocked_diagonals": blocked_diagonals,
    "dealt_blocks": dealt_blocks,
    "even_blocks": even_blocks,
    "agm_e": all_graph_edges,
    "agm_n": all_graph_nodes,
    "sgm": sub_graphs,
    "colored": colored,
    "shuffled": shuffled,
}
"""All that there are, by name."""


def plan(graph: Graph, key: str, first_fit: FirstFit) -> Plan:
    """The plan of a kind, such as `agm_e`, `sgm.256` or `blocked_diagonals.64.64`; made when first asked for.

    It is kept as long as the graph's arcs. A graph in another order of vertices has the plan of the one that it was
    made from, so that results are the same. `first_fit` colors edges, which takes machine code.
    """

    def make() -> Plan:
        start = time.perf_counter()
        moved = graph.topology.order
        if isinstance(moved, Renumbered):
            before = plan(Graph(moved.before, {}, {}), key, first_fit)
            return replace(before, order=sealed(np.argsort(moved.same_way)[before.order]))
        kind, *parameters = key.split(".")
        maker = KINDS[kind]
        given = [first_fit] if "first_fit" in inspect.signature(maker).parameters else []
        made = maker(Ends.of(graph), *given, *map(int, parameters))
        order, phases = sealed(made.order), sealed(made.phases)
        cells, steps, firsts = (
            None if array is None else sealed(array) for array in (made.cells, made.steps, made.firsts)
        )
        seconds = time.perf_counter() - start
        return replace(
            made, order=order, cells=cells, phases=phases, seconds=seconds, steps=steps, firsts=firsts
        )

    return graph.kept_with_topology(f"conflicts {key}", make)


def turns_of(graph: Graph, parts: int, members: int, first_fit: FirstFit) -> tuple[Turns, ...]:
    """What each of so many members does along `dealt_blocks`; made when first asked for, and kept with the arcs."""

    def make() -> tuple[Turns, ...]:
        moved = graph.topology.order
        if not isinstance(moved, Renumbered):
            return turns(Ends.of(graph), plan(graph, f"dealt_blocks.{parts}", first_fit), parts, members)
        before = Graph(moved.before, {}, {})
        old, new = Ends.of(before), Ends.of(graph)
        now = np.zeros(graph.num_vertices, np.int64)
        for ours, its in ((old.sources, new.sources), (old.targets, new.targets)):
            now[ours[moved.same_way]] = its
        return tuple(
            replace(t, gone=now[t.gone], got=now[t.got]) for t in turns_of(before, parts, members, first_fit)
        )

    return graph.kept_with_topology(f"turns {parts} {members}", make)


__all__ = ["KINDS", "Ends", "FirstFit", "Plan", "Turns", "plan", "turns_of"]

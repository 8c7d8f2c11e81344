"""Plans by matchings, edges of which no two share an end: a matching is maximal if no edge can be added to it.

Kaleem 2016, section 4.3.1 (AGM-E, AGM-N and SGM). The matchings are the colors of a first fit: an edge gets the least
color that no edge before it has at either end. So the edges of a color are a maximal matching of those that have no
lesser one, and there are less than twice as many colors as edges at a vertex.

Matchings, and blocks of them, come in an order by lot. Elsewhere a vertex would see its edges in the same order as all
others see theirs, that of the ids or degrees of their other ends, and gradient descent ends at larger errors (by 1.3 %
on MovieLens, 3 % on Jester's ratings where all busy sources came first).
"""

from __future__ import annotations

import numpy as np

from vgraph.graph.conflicts.base import Ends, FirstFit, Plan, ascending, plan, shuffled, starts


def all_graph_edges(ends: Ends, first_fit: FirstFit) -> Plan:
    """Phases are maximal matchings of the whole graph (AGM-E)."""
    return plan(ends, shuffled(first_fit(ends.sources, ends.targets)))


def all_graph_nodes(ends: Ends, first_fit: FirstFit, size: int) -> Plan:
    """The same matchings, each cut by blocks of `size` sources; block by block (AGM-N)."""
    colors = first_fit(ends.sources, ends.targets)
    return plan(ends, shuffled(ends.sources // np.uint32(size)), shuffled(colors))


def sub_graphs(ends: Ends, first_fit: FirstFit, size: int) -> Plan:
    """Sources by falling out-degree in blocks of `size`, and maximal matchings of each block's own arcs (SGM)."""
    degrees = np.bincount(ends.sources, minlength=ends.num_vertices)
    place = np.empty(degrees.size, np.int64)
    place[ascending(degrees.max(initial=0) - degrees)] = np.arange(degrees.size)
    block = place[ends.sources] // size
    order = ascending(block)
    colors = np.empty(order.size, np.uint32)
    colors[order] = first_fit(ends.sources[order], ends.targets[order], starts(block, order=order))
    return plan(ends, shuffled(block), shuffled(colors))


def colored(ends: Ends, first_fit: FirstFit) -> Plan:
    """Phases are classes of a greedy coloring of the line graph, edges of the most conflicts first (COLOR).

    On graphs with hubs that gives few colors, for what has to be one after the other begins at once.
    """
    degrees = ends.degrees
    conflicts = degrees[ends.sources] + degrees[ends.targets]
    order = ascending(conflicts.max(initial=0) - conflicts)
    colors = np.empty(order.size, np.uint32)
    colors[order] = first_fit(ends.sources[order], ends.targets[order])
    return plan(ends, shuffled(colors))

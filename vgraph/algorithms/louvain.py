"""Communities by the method of Louvain (Blondel et al. 2008)."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._communities import (
    FACTOR,
    gathered,
    join,
    modularity_of,
    weighted,
    weights_in_range,
)
from vgraph.algorithms._moves import settled


@vg.operator
def begin(v, graph):
    """A level begins with each group as a community of its own."""
    v.community = v.group
    v.home = v.group
    v.total = v.away
    if graph.directed:
        v.tilt = v.slope
    v.size = 1


@vg.algorithm
def louvain(
    graph,
    resolution: FACTOR = 1.0,
    tolerance: FACTOR = 1e-7,
    max_levels: vg.between(1, vg.inf) = 100,
):
    """Communities of high modularity: groups of vertices, at first each of one, move to better communities, and merge.

    A level ends when no group would gain; the groups of the next are its communities. It counts if it adds more
    than `tolerance` to the modularity. Arcs weigh their edge property `weight`, or 1; the unit does not matter. The
    modularity of a directed graph is that of Leicht and Newman (2008).
    Results: `community`, a vertex id, the smallest of the community, which is connected; `modularity`; `levels` that
    counted; `converged`: neither was `max_levels` in the way, nor a level cut short. The same on every device if the
    weights are integers whose sum is below 2**25 and `resolution` is 1. Raises ParameterError for weights
    that are negative or not finite, and parameters out of range. O(levels * sweeps * (vertices + arcs)).
    """
    group = graph.disjoint_sets()
    community, old, new = graph.vertex_property(vg.vertex)
    home = graph.vertex_property(vg.int64)
    size = graph.vertex_property(vg.int32)
    inside, away, total = graph.vertex_property(vg.float64)
    if graph.directed:
        slope, tilt = graph.vertex_property(vg.float64)
    behind = graph.scratch(vg.int64)
    toward = graph.scratch(vg.float64)
    graph.resolution = resolution
    graph.turn = vg.int32(0)
    modularity = 0.0
    level = 0
    converged = False
    calm = True
    while level <= max_levels:
        after = graph.vertex_property(vg.vertex)
        woken, chosen = graph.vertex_property(vg.int32)
        groups = gathered(graph)
        found = modularity_of(graph)
        if level > 0 and found - modularity <= tolerance:
            converged = calm
            break
        modularity = found
        graph.vertex_apply(begin)
        if level < max_levels:
            quiet = settled(graph, groups)
            calm = calm and quiet
        graph.edge_apply(join)
        level += 1
    levels = level - 1
    return community, modularity, levels, converged


louvain.prepares(weighted)
louvain.requires(weights_in_range)

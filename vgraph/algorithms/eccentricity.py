"""How far it is from each vertex to the farthest that it reaches, by searches from 64 vertices at a time."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._searches import search_from_all
from vgraph.graph import Graph


@vg.operator
def settle(v, graph):
    """The searches that came to v now are as far from it as none before."""
    v.fresh = v.seen & ~v.before
    v.before = v.seen
    v.eccentricity = max(v.eccentricity, graph.depth)
    v.reached += vg.popcount(v.fresh)


@vg.algorithm
def eccentricity(graph):
    """The largest distance, in hops, from each vertex to the vertices that it reaches.

    Results: `eccentricity` (int32; its maximum is the diameter, its minimum the radius) and `reached` (int64), how many
    vertices can be reached, itself among them: where that is not all of them, others would call the eccentricity
    infinite. Exact, O(vertices * (vertices + arcs) / 64) or a little more; see `diameter` for large graphs.
    """
    eccentricity = graph.vertex_property(vg.int32)
    reached = graph.vertex_property(vg.int64, fill=1)
    seen, fresh, before = graph.vertex_property(vg.uint64)
    search_from_all(graph, settle)
    return eccentricity, reached


@eccentricity.prepares
def backwards(graph: Graph) -> vg.Prepared:
    """Searches tell a vertex how far they have come: against the arcs, that is how far it has to go."""
    return vg.Prepared(graph.reverse())

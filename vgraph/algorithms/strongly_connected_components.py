"""Strongly connected components by trimming, one search both ways, and coloring (Slota et al. 2014, "Multistep")."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._trimming import trim
from vgraph.algorithms.connected_components import connected_components


@vg.operator
def busiest(v, graph):
    """Through a vertex of the giant component, if there is one, lead more ways than through others."""
    graph.most, graph.pivot = max((graph.most, graph.pivot), (vg.float32(v.in_degree * v.out_degree), v))


@vg.operator
def begin(v, graph):
    """First only the pivot has a color, later every vertex its own."""
    starts = v.component == vg.none and (graph.pivot == vg.none or v == graph.pivot)
    v.color = v if starts else vg.none
    return starts


@vg.operator
def spread(src, edge, dst):
    """The smallest color wins: that of the first vertex from which there is a way here."""
    if dst.component == vg.none:
        dst.color = min(dst.color, src.color)


@vg.operator
def root(v):
    """A vertex that kept its own color gives its name to a component."""
    if v.color == v:
        v.component = v
    return v.color == v


@vg.operator
def collect(src, edge, dst):
    """Against the arcs: the component of a root are those of its color from which there is a way to it."""
    if dst.component == vg.none and dst.color == src.color:
        dst.component = src.color


@vg.operator
def smallest(v):
    """The pivot need not be the smallest vertex of its component."""
    v.component.color = min(v.component.color, v)


@vg.operator
def rename(v):
    """A component is called by its smallest vertex."""
    v.component = v.component.color


@vg.algorithm
def strongly_connected_components(graph):
    """Components within which there is a way along the arcs from every vertex to every other.

    Result: `component`, the smallest vertex id of each vertex's component; those of an undirected graph are its
    connected components. O(vertices + arcs) for what trimming and the search from one vertex of many arcs settle,
    which is nearly everything on most graphs; then O(vertices + arcs) for each of as many rounds of coloring as
    components follow each other in the worst case.
    """
    if not graph.directed:
        return connected_components(graph).component
    component, color = graph.vertex_property(vg.vertex)
    left = graph.vertex_property(vg.int32)
    graph.most = vg.float32(-1)
    graph.pivot = vg.none
    graph.vertex_apply(busiest)
    rest = graph.vertices
    while rest:
        trim(graph, rest)
        frontier = graph.vertex_filter(begin, rest)
        while frontier:
            frontier = graph.edge_apply(spread, frontier)
        frontier = graph.vertex_filter(root, rest)
        while frontier:
            frontier = graph.edge_apply(collect, frontier, reverse=True)
        rest = graph.frontier(v for v in rest if v.component == vg.none)
        graph.pivot = vg.none
    color[:] = vg.none
    graph.vertex_apply(smallest)
    graph.vertex_apply(rename)
    return component

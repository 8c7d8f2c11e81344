"""Biconnected components, articulation points and bridges (Tarjan and Vishkin 1985; Dong et al. 2023, "FAST-BCC")."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms._numbered_trees import grow


@vg.operator
def look(v):
    """An edge outside the tree closes a circle with tree edges, also with those to the parents of both its ends.

    The first arc to the parent is the tree's own; one more beside it only says that there is no bridge.
    """
    v.low = v.start
    v.high = v.start
    known = False
    for u in v.out_neighbors:
        if u == v.parent and not known:
            known = True
        elif u.parent != v:
            v.low = min(v.low, u.start)
            v.high = max(v.high, u.start)
            if u != v.parent:
                vg.union(v.circle, u.circle)


@vg.operator
def widen(v):
    """The numbers that are reached from v's subtree: by v, and as its children told."""
    v.low = min(v.low, v.lowest)
    v.high = max(v.high, v.highest)


@vg.operator
def tell(v):
    """To the parent."""
    v.parent.lowest = min(v.parent.lowest, v.low)
    v.parent.highest = max(v.parent.highest, v.high)


@vg.operator
def join(v):
    """If v's subtree reaches beyond that of its parent, a circle goes through the edges above both."""
    if v.level > 1 and (v.low < v.parent.start or v.high >= v.parent.start + v.parent.size):
        vg.union(v.circle, v.parent.circle)


@vg.operator
def name(v):
    """The component of the edge to the parent; a bridge is one that nothing else goes round."""
    if v.level > 0:
        v.component = v.circle
        v.parent.own = min(v.parent.own, v.circle if v.level == 1 else v.parent.circle)
        v.bridge = v.low == v.start and v.high < v.start + v.size


@vg.operator
def cut(v):
    """Where edges of different components meet is an articulation point."""
    if v.level > 0 and v.component != v.parent.own:
        v.parent.articulation = True


@vg.algorithm
def biconnected_components(graph: vg.undirected):
    """Sets of edges of which any two lie on a circle, the vertices where such sets meet, and edges on no circle.

    Results, in a breadth-first tree from the smallest vertex of each connected component: `parent`, the smallest of the
    neighbors nearer to the root (-1 at the root); `component`, that of the edge to the parent, called by the smallest
    vertex whose edge to its parent it holds (-1 at the root); `bridge`, whether the edge to the parent is one;
    `articulation`, whether more connected components were left without the vertex. An edge outside the tree is of the
    component of either end. Self-loops are in none; of parallel edges none is a bridge. Raises ParameterError for a
    directed graph. O(vertices + arcs), in a few rounds for each level.
    """
    root, circle = graph.disjoint_sets()
    level = graph.vertex_property(vg.int32)
    parent, component, own = graph.vertex_property(vg.vertex)
    below, size, given, start, low, high, highest = graph.vertex_property(vg.int64)
    lowest = graph.vertex_property(vg.int64, fill=vg.inf)
    bridge, articulation = graph.vertex_property(vg.bool_)
    levels = []
    grow(graph, levels)
    graph.vertex_apply(look)
    for f in reversed(levels):
        graph.vertex_apply(widen, f)
        graph.vertex_apply(tell, f)
    graph.vertex_apply(join)
    graph.vertex_apply(name)
    graph.vertex_apply(cut)
    return component, parent, bridge, articulation

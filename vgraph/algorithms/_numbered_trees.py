"""Breadth-first trees of all components, numbered in preorder (Tarjan and Vishkin 1985)."""

from __future__ import annotations

import vgraph as vg


@vg.operator
def connect(src, edge, dst):
    """What is connected has one root, its smallest vertex."""
    vg.union(src.root, dst.root)


@vg.operator
def plant(v):
    """All trees grow at once, each from its root."""
    v.level = 0 if v.root == v else -1
    return v.root == v


@vg.operator
def visit(src, edge, dst, graph):
    """Breadth first: then an edge outside the tree joins two vertices of which neither is above the other."""
    if dst.level == -1:
        dst.level = graph.depth


@vg.operator
def climb(v):
    """Of the vertices one level above, the smallest is the parent."""
    for u in v.out_neighbors:
        if u.level < v.level:
            v.parent = min(v.parent, u)


@vg.operator
def weigh(v):
    """How many vertices v's subtree has: itself, and what its children reported."""
    v.size = 1 + v.below


@vg.operator
def report(v):
    """To the parent."""
    v.parent.below += v.size


@vg.operator
def number(v):
    """In preorder: the subtree of each child has the numbers from `given` on."""
    free = v.start + 1
    last = v
    for u in v.out_neighbors:
        if u.parent == v and u != last:
            u.given += free
            free += u.size
            last = u


@vg.operator
def take(v):
    """The number that the parent gave."""
    v.start = v.given


@vg.function
def grow(graph, levels):
    """The trees, level by level from all roots at once; then subtrees are measured, and numbered."""
    graph.edge_apply(connect)
    graph.depth = 0
    frontier = graph.vertex_filter(plant)
    while frontier:
        levels.append(frontier)
        graph.depth += 1
        frontier = graph.edge_apply(visit, frontier)
    graph.vertex_apply(climb)
    for f in reversed(levels):
        graph.vertex_apply(weigh, f)
        graph.vertex_apply(report, f)
    for f in levels:
        graph.vertex_apply(take, f)
        graph.vertex_apply(number, f)

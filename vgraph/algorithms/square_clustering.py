"""Square clustering: which squares there are of those that might be (Lind, Gonzalez and Herrmann 2005)."""

from __future__ import annotations

import vgraph as vg
from vgraph.algorithms.triangle_count import count_between
from vgraph.graph.orient import oriented


@vg.operator
def count(v):
    """Of each square, the corner of lowest number looks for the opposite one (Chiba and Nishizeki 1985).

    In how many ways one comes from v to w over a vertex between, all above v, tells the squares of v and w; `twice`,
    since each counts for both ways.
    """
    for u in v.in_neighbors:
        for w in u.in_neighbors:
            w.ways += 1
        for w in u.out_neighbors:
            if w > v:
                w.ways += 1
    here = 0
    for u in v.in_neighbors:
        there = 0
        for w in u.in_neighbors:
            if w.ways > 1:
                there += w.ways - 1
                w.twice += w.ways - 1
        for w in u.out_neighbors:
            if w > v and w.ways > 1:
                there += w.ways - 1
                w.twice += w.ways - 1
        if there > 0:
            u.twice += 2 * there
            here += there
    if here > 0:
        v.twice += here


@vg.operator
def finish(v):
    """A pair of neighbors of v may share all that one of them has; what both have counts once."""
    v.squares = v.twice // 2
    degree = v.out_degree + v.in_degree
    around = 0
    for u in v.out_neighbors:
        around += u.out_degree + u.in_degree
    for u in v.in_neighbors:
        around += u.out_degree + u.in_degree
    possible = (around - degree) * (degree - 1) - 2 * v.triangles - v.squares
    if v.squares > 0:
        v.coefficient = v.squares / possible


@vg.algorithm
def square_clustering(graph):
    """The squares, cycles of four vertices, at each vertex, and the fraction that they are of the possible ones.

    Results: `squares` (int64) and `coefficient` (float64), with NetworkX's values; 0 where there is no square. The
    direction of arcs is ignored; self-loops and parallel edges do not count. O(arcs ** 1.5).
    """
    squares, twice, triangles = graph.vertex_property(vg.int64)
    coefficient = graph.vertex_property(vg.float64)
    ways = graph.scratch(vg.int64)
    graph.total = 0
    graph.vertex_apply(count)
    graph.vertex_apply(count_between, label="close")
    graph.vertex_apply(finish)
    return squares, coefficient


square_clustering.prepares(oriented)

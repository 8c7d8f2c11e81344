"""Connected subgraphs of four vertices by their shape (Pinar, Seshadhri and Vishal 2017, "ESCAPE")."""

from __future__ import annotations

import vgraph as vg
from vgraph.graph.orient import oriented


@vg.operator
def count(v, graph):
    """Stars around v; what its edges to vertices of more neighbors are part of; cycles with v as the end of most."""
    near = v.out_degree + v.in_degree
    graph.stars += near * (near - 1) * (near - 2) // 6
    for u in v.out_neighbors:
        there = u.out_degree + u.in_degree
        shared = len(v.neighbors & u.neighbors)
        graph.paths += (near - 1) * (there - 1) - shared
        graph.tails += shared * (near + there - 4)
        graph.diamonds += shared * (shared - 1) // 2
        for w in v.out_neighbors & u.out_neighbors:
            graph.cliques += len(v.out_neighbors & u.out_neighbors & w.out_neighbors)
    for u in v.in_neighbors:
        for w in u.neighbors:
            if w > v:
                graph.cycles += w.met
                w.met += 1


@vg.algorithm
def motif_census(graph):
    """How many sets of four vertices have each of the six kinds of edges between them that join all four.

    Results, int64, by their usual names: `p4`, a path, `claw`, a star, `c4`, a cycle, `paw`, a triangle with a tail,
    `diamond`, all edges but one, and `k4`, a clique. Each set counts once, as what all edges between its vertices make
    of it. The direction of arcs is ignored; self-loops and parallel arcs do not count. Those of three vertices are
    among the results of `triad_census`. O(arcs ** 1.5), and the number of triangles times degrees.
    """
    met = graph.scratch(vg.int64)
    graph.stars = graph.paths = graph.tails = graph.cycles = graph.diamonds = graph.cliques = 0
    graph.vertex_apply(count)
    k4 = graph.cliques
    diamond = graph.diamonds - 6 * k4
    paw = graph.tails // 2 - 4 * diamond - 12 * k4
    c4 = graph.cycles - diamond - 3 * k4
    claw = graph.stars - paw - 2 * diamond - 4 * k4
    p4 = graph.paths - 2 * paw - 4 * c4 - 6 * diamond - 12 * k4
    return p4, claw, c4, paw, diamond, k4


motif_census.prepares(oriented)  # so that a cycle is found once, from its vertex of most neighbors

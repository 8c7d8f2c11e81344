"""Random walks of the second order, for embeddings of vertices (Grover and Leskovec 2016, "node2vec")."""

from __future__ import annotations

import vgraph as vg
from vgraph.graph import Graph
from vgraph.graph.weights import check_weights


@vg.operator
def weigh(v):
    """What the arcs of v weigh together."""
    for e in v.out_edges:
        v.total += e.weight


@vg.function
def drawn(here, v, draw):
    """An out-neighbor in proportion to the weights of the arcs, or none."""
    if weight is None:
        many = here.out_degree
        return here.out_neighbors[vg.random_below(many, v, draw)] if many > 0 else vg.none
    found = vg.none
    left = vg.random(v, draw) * here.total
    for e in here.out_edges:
        if e.weight > 0 and left >= 0:
            found = e.dst
            left -= e.weight
    return found


@vg.function
def bias(there, before, graph):
    """How likely a step is beside one to a vertex that the last one leads to as well; a first one is always taken."""
    if there == vg.none or before == vg.none:
        return graph.most
    if there == before:
        return 1 / p
    return 1.0 if there in before.out_neighbors else 1 / q


@vg.operator
def walk(v, graph):
    """A walk begins at v. Each step is drawn until it is accepted (Yang et al. 2019, "KnightKing")."""
    before = vg.none
    here = vg.vertex(v)
    draw = 0
    for step in range(length + 1):
        if here != vg.none:
            v.path[step] = here.id
        there = drawn(here, v, draw)
        while vg.random(v, draw + 1) * graph.most >= bias(there, before, graph):
            draw += 2
            there = drawn(here, v, draw)
        draw += 2
        before = here
        here = there


@vg.algorithm
def node2vec_walks(
    graph,
    length: vg.between(1, vg.inf) = 80,
    p: vg.between(1e-6, 1e6) = 1.0,
    q: vg.between(1e-6, 1e6) = 1.0,
    weight: vg.edge_property(vg.float64) = None,
):
    """From each vertex a random walk that tends to come back, or to go away from where it was.

    A step goes along an arc, in proportion to its `weight` if there is one, times 1 / `p` back to the vertex before,
    times 1 / `q` to a vertex to which no arc leads from there. Result: `path`, int64, a row of `length` + 1 vertices
    for each vertex, the first of them itself, -1 after the end, which is where no arc leads on. The same in every run
    with the same seed. Raises ParameterError for parameters out of range. O(vertices *
    length) draws, of which about max(1, 1 / p, 1 / q) / min(1, 1 / p, 1 / q) are one step at worst.
    """
    path = graph.vertex_property(vg.vector(vg.int64, length + 1), fill=-1)
    total = graph.vertex_property(vg.float64)
    graph.most = max(1 / p, 1.0, 1 / q)
    if weight is not None:
        graph.vertex_apply(weigh)
    graph.vertex_apply(walk)
    return path


@node2vec_walks.requires
def sensible(graph: Graph, weight: object) -> None:
    """Raise ParameterError for weights that cannot be added up."""
    check_weights(graph, weight, sums=True)

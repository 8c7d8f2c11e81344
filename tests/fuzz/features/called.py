"""Algorithms that call algorithms, in loops and branches, and helpers that take operators and frontiers.

graphs: {"directed": true, "id_bits": 32, "edges": {"w": "int32"}, "vertices": {}}
"""

import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    dst.x = min(dst.x, src.x + abs(edge.cost))


@vg.operator
def count(v, graph):
    graph.k += 1
    v.n = v.near * k + v.x


@vg.algorithm
def paths(
    graph,
    first: vg.vertex,
    near: vg.vertex_property(vg.int64),
    most: vg.between(0, 9) = 9,
    cost: vg.edge_property(vg.int64) = 1,
    k=2,
):
    x = graph.vertex_property(vg.int64, fill=60)
    n = graph.vertex_property(vg.int64)
    graph.k = 0
    frontier = graph.frontier(first)
    rounds = 0
    if most == 0:
        return x, n, rounds, frontier
    x[first] = 0
    while frontier:
        rounds += 1
        if rounds > most:
            return x, n, rounds, frontier
        frontier = graph.edge_apply(relax, frontier)
    frontier = graph.vertices
    graph.vertex_apply(count)
    rounds = rounds * 100 + graph.k
    return x, n, rounds, frontier


@vg.algorithm
def through(graph, first, seeds, near: vg.vertex_property(vg.int64)):
    x = graph.vertex_property(vg.int64)
    found = paths(
        graph, vg.random_below(graph.num_vertices, first, 5), near, 3, "w", len(graph.frontier(seeds))
    )
    x = found.x
    last = found.n
    return x, last, found.rounds


@vg.operator
def low(v):
    return v.x < 7


@vg.operator
def raised(v, graph):
    v.x += graph.k
    v.last -= v.x


@vg.operator
def spread(src, edge, dst):
    dst.last = max(dst.last, src.x - edge.w)


@vg.function
def marked(graph, test, op, frontier):
    graph.k += len(frontier)
    frontier = graph.vertex_filter(test, frontier)
    graph.vertex_apply(op, frontier)
    return frontier


@vg.function
def rounds_of(graph, op, frontier, most):
    for _ in range(most):
        frontier = graph.edge_apply(op, frontier)
    return len(frontier)


@vg.algorithm
def program(graph, source: vg.vertex, several: list[vg.vertex]):
    near = graph.vertex_property(vg.int64, fill=2)
    x = graph.vertex_property(vg.int64)
    sizes = 0
    graph.k = 1
    for i in range(3):
        if i != 1:
            result = paths(graph, i % graph.num_vertices, near, most=i * 4)
            x = result.x
            sizes += result.rounds + len(result.frontier)
    pair = through(graph, source, several, x)
    last = pair.last
    low_ones = marked(graph, low, raised, graph.vertices)
    low_ones = marked(graph, low, raised, low_ones)
    most = rounds_of(graph, spread, low_ones, 2)
    pushed = len(low_ones)
    kept = pair.x
    return x, near, last, kept, sizes, pair.rounds, graph.k, most, pushed

"""Vertex operators that gather vertices and write them. Each visit notes when it ran, so that a run can be replayed."""

from __future__ import annotations

import numpy as np

import vgraph as vg


@vg.operator
def stir(v, graph):
    """What is gathered depends on what others have written. `clock`: how long a chain of visits led here."""
    near = vg.local_list(vg.vertex, 8)
    near.append(v)
    for u in near:  # which grows meanwhile
        for w in u.neighbors:
            if len(near) < 5 and w not in near and (u.x + w.id) % 3 != 0:
                near.append(w)
    now = 1
    total = v.x
    for u in near:
        now = max(now, u.clock + 1)
        total = 2 * total + u.x
    for u in near:
        u.x = 3 * u.x + total
        u.clock = now
    v.turn = now
    graph.visits += len(near)


@vg.algorithm
def stirred(graph, seeds):
    x = graph.vertex_property(vg.int64, fill=1)
    clock = graph.vertex_property(vg.int64)
    turn = graph.vertex_property(vg.int64)
    graph.visits = 0
    graph.vertex_apply(stir, graph.frontier(seeds))
    return x, turn, graph.visits


@vg.operator
def pair_up(v):
    """Whoever finds a mate; the lists are two, and of vectors elements are written."""
    near = vg.local_list(vg.vertex, 40)
    far = vg.local_list(vg.vertex, 1)
    best = vg.none
    for edge in v.out_edges:
        near.append(edge.dst)
        if v.mate == vg.none and edge.dst.mate == vg.none and edge.dst != v:
            if best == vg.none or edge.weight > best.given[0]:
                best = edge.dst
    if best == vg.none:
        return False
    far.append(near[len(near) - 1])
    best.mate = v
    v.mate = best
    for i, u in enumerate(near):
        u.given[1] += i
    far[0].given[1] += 100
    return v.id < best.id


@vg.algorithm
def paired(graph):
    """The smaller ends of pairs are a frontier."""
    mate = graph.vertex_property(vg.vertex)
    given = graph.vertex_property(vg.vector(vg.int64, 2))
    first = graph.vertex_filter(pair_up)
    return mate, given, first


@vg.operator
def stir_all(v, graph):
    """Hubs come in a second pass, where there is room for them; `clock` and `turn` as in `stir`."""
    near = vg.local_list(vg.vertex, 6, more=150)
    for u in v.neighbors:
        near.append(u)
    now = v.clock + 1
    total = v.x
    for u in near:
        now = max(now, u.clock + 1)
        total = 2 * total + u.x
    for u in near:
        u.x = 3 * u.x + total
        u.clock = now
    v.clock = now
    v.turn = now
    graph.visits += 1
    return len(near) > 6


@vg.algorithm
def all_stirred(graph):
    """Every vertex, with those that had too many neighbors for the first pass."""
    x = graph.vertex_property(vg.int64, fill=1)
    clock = graph.vertex_property(vg.int64)
    turn = graph.vertex_property(vg.int64)
    graph.visits = 0
    hubs = graph.vertex_filter(stir_all)
    return x, turn, graph.visits, hubs


@vg.operator
def weigh(v):
    """Loads of the edges of what is gathered, which lead further."""
    near = vg.local_list(vg.vertex, 150)
    for u in v.neighbors:
        near.append(u)
    for u in near:
        u.x += 1
        for edge in u.out_edges:
            edge.load += 0.1 * v.id


@vg.algorithm
def weighed(graph):
    x = graph.vertex_property(vg.int64)
    load = graph.edge_property(vg.float64)
    graph.vertex_apply(weigh)
    return x, load


def graph_of(directed: bool) -> vg.Graph:
    """With hubs, loops and parallel edges."""
    rng = np.random.default_rng(4)
    a, b = (150 * rng.random((2, 400)) ** 2).astype(int)
    return vg.Graph.from_edges(
        a, b, weight=rng.integers(0, 90, 400), num_vertices=160, directed=directed, multi_edges=directed
    )


SEEDS = np.flatnonzero(np.random.default_rng(5).random(160) < 0.8)


def all_replayed(graph: vg.Graph, order: np.ndarray) -> np.ndarray:
    """`all_stirred` of an undirected graph as a plain loop over visits in this order: x."""
    x = np.ones(graph.num_vertices, np.int64)
    rows, neighbors = graph.out.row_offsets, graph.out.column_indices
    with np.errstate(over="ignore"):
        for v in order:
            near = neighbors[rows[v] : rows[v + 1]]
            total = x[v]
            for u in near:
                total = 2 * total + x[u]
            for u in near:
                x[u] = 3 * x[u] + total
    return x


def replayed(graph: vg.Graph, order: np.ndarray) -> np.ndarray:
    """`stirred` as a plain loop over visits in this order: x."""
    x = np.ones(graph.num_vertices, np.int64)
    rows = [
        np.unique(
            np.concatenate(
                [s.column_indices[s.row_offsets[v] : s.row_offsets[v + 1]] for s in (graph.out, graph.in_)]
            )
        )
        if graph.directed
        else graph.out.column_indices[graph.out.row_offsets[v] : graph.out.row_offsets[v + 1]]
        for v in range(graph.num_vertices)
    ]
    for v in order:
        near = [v]
        for u in near:
            for w in rows[u].tolist():
                if len(near) < 5 and w not in near and (x[u] + w) % 3 != 0:
                    near.append(w)
        total = x[v]
        with np.errstate(over="ignore"):
            for u in near:
                total = 2 * total + x[u]
            for u in near:
                x[u] = 3 * x[u] + total
    return x

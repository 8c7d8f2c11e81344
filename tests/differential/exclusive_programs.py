"""Operators that write both ends of their edges. Each activation notes when it ran, so that a run can be replayed."""

from __future__ import annotations

from typing import Any

import numpy as np

import vgraph as vg


@vg.operator
def mix(src, edge, dst):
    """Nothing in it may be done twice, or in another order. `clock`: how long a chain of activations led here."""
    now = max(src.clock, dst.clock) + 1
    old = dst.x
    src.x = 3 * src.x + old + edge.weight
    dst.x = 5 * old - src.x
    src.clock = now
    dst.clock = now
    if src.id <= dst.id:
        edge.up = now
    else:
        edge.down = now


@vg.algorithm
def mixed(graph):
    x = graph.vertex_property(vg.int64, fill=1)
    clock = graph.vertex_property(vg.int64)
    up = graph.edge_property(vg.int64)
    down = graph.edge_property(vg.int64)
    graph.edge_apply(mix)
    return x, up, down


@vg.operator
def some(src, edge, dst):
    """It leaves vertices alone, too."""
    if (src.x + edge.weight) % 3 != 0:
        src.x += dst.x
        edge.up += 1
        if dst.x % 2 == 0:
            dst.x = max(dst.x // 2, src.x) + 1


@vg.algorithm
def spread(graph, seeds, rounds: vg.int64):
    """Each round goes on from the vertices that were assigned to."""
    x = graph.vertex_property(vg.int64, fill=2)
    up = graph.edge_property(vg.int64)
    active = graph.frontier(seeds)
    for _ in range(rounds):
        active = graph.edge_apply(some, active)
    return x, up, active


@vg.function
def learn(src, edge, dst, rate):
    """A helper that writes both ends."""
    error = edge.weight - vg.dot(src.f, dst.f)
    old = src.f
    src.f += rate * (error * dst.f - old)
    dst.f += rate * (error * old - dst.f)
    dst.f[1] += 0.5
    edge.error = error


@vg.operator
def descend(src, edge, dst, graph):
    learn(src, edge, dst, 0.125)
    graph.total += 1


@vg.algorithm
def factors(graph, rounds: vg.int64):
    f = graph.vertex_property(vg.vector(vg.float32, 3), fill=0.25)
    error = graph.edge_property(vg.float32)
    graph.total = 0
    for _ in range(rounds):
        graph.edge_apply(descend)
    return f, error, graph.total


@vg.operator
def push_flow(src, edge, dst):
    """As in a maximum flow: the opposite edge, where there is one, takes part."""
    free = min(src.excess, edge.weight - edge.flow)
    if free > 0:
        edge.flow += free
        edge.reverse.flow -= free
        src.excess -= free
        dst.excess += free


@vg.algorithm
def flows(graph):
    excess = graph.vertex_property(vg.int64, fill=7)
    flow = graph.edge_property(vg.int64)
    graph.edge_apply(push_flow)
    return excess, flow


def edges_of(directed: bool, seed: int) -> tuple[int, Any, Any, Any]:
    """Vertices, and edges in no order with loops, parallel ones and a hub: ends and weights."""
    rng = np.random.default_rng([seed, directed])
    n, m = 40, 150
    s, t = rng.integers(0, n, m), rng.integers(0, n, m)
    s[:30] = 7
    t[30:36] = s[30:36]
    s[36:40], t[36:40] = s[40:44], t[40:44]
    order = rng.permutation(m)
    return n, s[order], t[order], rng.integers(0, 20, m)


def graph_of(directed: bool, seed: int = 0) -> vg.Graph:
    n, s, t, w = edges_of(directed, seed)
    return vg.Graph.from_edges(s, t, num_vertices=n, directed=directed, multi_edges=True, weight=w)


def arcs_of(directed: bool, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """The arcs as the edges stand: source, target, number of the edge, and whether it goes down."""
    _, s, t, _ = edges_of(directed, seed)
    if directed:
        return s, t, np.arange(s.size), s > t
    low, high = np.minimum(s, t), np.maximum(s, t)
    both = np.stack([low, high], axis=1).ravel()
    other = np.stack([high, low], axis=1).ravel()
    kept = np.ones(both.size, bool)
    kept[1::2] = low != high
    return both[kept], other[kept], np.repeat(np.arange(s.size), 2)[kept], (both > other)[kept]


def replayed(directed: bool, order: Any, seed: int = 0) -> Any:
    """What `mixed` gives if the arcs take turns in this order."""
    n, _, _, w = edges_of(directed, seed)
    s, t, edge, _ = arcs_of(directed, seed)
    x = np.ones(n, np.int64)
    with np.errstate(over="ignore"):
        for k in order:
            u, v, old = s[k], t[k], x[t[k]]
            x[u] = 3 * x[u] + old + w[edge[k]]
            x[v] = 5 * old - x[u]
    return x


def order_of(directed: bool, up: Any, down: Any, seed: int = 0) -> Any:
    """A serial order that the times of `mixed` tell: arcs with the same time share no vertex, which is checked."""
    s, t, edge, goes_down = arcs_of(directed, seed)
    time = np.where(goes_down, down[edge], up[edge])
    assert (time > 0).all(), "every arc had its turn"
    ends = np.unique(np.stack([np.r_[time, time[s != t]], np.r_[s, t[s != t]]]), axis=1)
    assert ends.shape[1] == s.size + (s != t).sum(), "no two activations met"
    return np.argsort(time, kind="stable")

"""Biconnected components, by a depth-first search as Hopcroft and Tarjan (1973) have it."""

from __future__ import annotations

import numpy as np

from vgraph.verifiers.common import *


def blocks(graph: Graph, result: Result, given: Arguments) -> None:
    """The breadth-first forest from the smallest vertices, and what a depth-first search says of its edges."""
    n = graph.num_vertices
    ends = simple_edges(graph)
    parent = _parents(n, *ends)
    equal(result.parent, parent, "parent")
    inside = np.flatnonzero(parent >= 0)
    label = _labels(n, *ends)
    above, keys = parent[inside], ends[0] * max(1, n) + ends[1]
    own = label[np.searchsorted(keys, inside * n + above)]
    smallest = np.full(label.max(initial=-1) + 1, n)
    np.minimum.at(smallest, own, inside)
    component = np.full(n, -1)
    component[inside] = smallest[own]
    equal(result.component, component, "component")
    s, t = arcs(graph)
    copies = np.unique(s * max(1, n) + t, return_counts=True)
    single = copies[1][np.searchsorted(copies[0], inside * n + above)] == 1
    bridge = np.zeros(n, bool)
    bridge[inside] = single & (np.bincount(label, minlength=smallest.size)[own] == 2)
    equal(result.bridge, bridge, "bridge")
    pairs = np.unique(np.stack([ends[0], label], axis=1), axis=0)
    equal(result.articulation, np.bincount(pairs[:, 0], minlength=n) > 1, "articulation")


def _parents(n: int, sources: Array, targets: Array) -> Array:
    """Breadth first from the smallest vertex of each component: the smallest neighbor one level nearer; -1 at roots."""
    level = np.full(n, -1)
    begins = np.searchsorted(sources, np.arange(n + 1))
    for root in range(n):
        if level[root] >= 0:
            continue
        depth, front = 0, np.array([root])
        while front.size:
            level[front] = depth
            depth += 1
            beside = np.concatenate([targets[begins[v] : begins[v + 1]] for v in front.tolist()])
            front = np.unique(beside[level[beside] < 0])
    parent = np.full(n, n)
    nearer = level[targets] < level[sources]
    np.minimum.at(parent, sources[nearer], targets[nearer])
    return np.where(parent == n, -1, parent)


def _labels(n: int, sources: Array, targets: Array) -> Array:
    """The number of each arc's biconnected component; both directions of an edge have the same."""
    begins, heads = np.searchsorted(sources, np.arange(n + 1)).tolist(), targets.tolist()
    found, low = [-1] * n, [0] * n
    label = np.full(sources.size, -1)
    clock = count = 0
    open_edges: list[int] = []  # arcs, the way the search went, whose component is not complete
    for root in range(n):
        if found[root] >= 0:
            continue
        found[root] = low[root] = clock
        clock += 1
        path = [(root, -1, begins[root])]
        while path:
            v, above, k = path.pop()
            if k < begins[v + 1]:
                path.append((v, above, k + 1))
                u = heads[k]
                if found[u] < 0:
                    open_edges.append(k)
                    found[u] = low[u] = clock
                    clock += 1
                    path.append((u, v, begins[u]))
                elif u != above and found[u] < found[v]:
                    open_edges.append(k)
                    low[v] = min(low[v], found[u])
            elif path:
                low[above] = min(low[above], low[v])
                if low[v] >= found[above]:
                    entered = path[-1][2] - 1  # the arc by which the search came to v
                    at = len(open_edges) - 1
                    while open_edges[at] != entered:
                        at -= 1
                    label[open_edges[at:]] = count
                    del open_edges[at:]
                    count += 1
    other = np.searchsorted(sources * max(1, n) + targets, targets * max(1, n) + sources)
    labels: Array = np.maximum(label, label[other])
    return labels

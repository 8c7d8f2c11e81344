"""Matchings: pairs that are mutual, and what each algorithm promises of them."""

from __future__ import annotations

import numpy as np

from vgraph.errors import VerificationError
from vgraph.verifiers.common import *


def maximal(graph: Graph, result: Result, given: Arguments) -> None:
    """Pairs are mutual and edges, and no edge joins two without."""
    s, t = simple_edges(graph)
    _mutual(graph, result, s, t)
    free = result.mate < 0
    no_arc(free[s] & free[t], (s, t), lambda u, v: f"free, as is its neighbor {u}")


def dominant(graph: Graph, result: Result, given: Arguments) -> None:
    """Pairs are mutual and edges above 0, and no edge outweighs those that are taken at its ends."""
    s, t = arcs(graph)
    weight = weights(graph, given["weight"])
    worth = (weight > 0) & (s != t)
    s, t, weight = s[worth], t[worth], weight[worth]
    _mutual(graph, result, np.r_[s, t], np.r_[t, s])
    taken = np.zeros(graph.num_vertices)
    pair = result.mate[s] == t
    for end in (s, t):
        np.maximum.at(taken, end[pair], weight[pair])
    outweighs = weight > np.maximum(taken[s], taken[t])
    no_arc(outweighs, (s, t), lambda u, v: f"the edge from {u} outweighs those taken at its ends")


def _mutual(graph: Graph, result: Result, s: Array, t: Array) -> None:
    """Pairs are mutual, and edges among those from s to t."""
    n, mate = graph.num_vertices, result.mate.astype(np.int64)
    every, paired = np.arange(n), mate >= 0
    none_of(paired & (mate[np.where(paired, mate, every)] != every), lambda v: f"{mate[v]} has another mate")
    edge = np.isin(every * n + mate, s * n + t)
    none_of(paired & ~edge, lambda v: f"there is no edge to its mate {mate[v]}")


def heaviest(graph: Graph, result: Result, given: Arguments) -> None:
    """Pairs are mutual and edges above 0, and weigh as much as SciPy's assignment of all vertices to each other.

    There a vertex may be assigned to itself, for nothing: that is twice the weight of a heaviest matching. Without
    weights they are as many as SciPy's, to which each vertex is on both sides.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching, min_weight_full_bipartite_matching

    n, (s, t) = graph.num_vertices, arcs(graph)
    weight = weights(graph, given["weight"])
    worth = (weight > 0) & (s != t)
    s, t, weight = np.r_[s[worth], t[worth]], np.r_[t[worth], s[worth]], np.r_[weight[worth], weight[worth]]
    _mutual(graph, result, s, t)
    if given["weight"] is None:
        most = maximum_bipartite_matching(csr_array((np.ones(s.size), (s, t)), shape=(n, n)))
        if (many := (result.mate >= 0).sum()) != (could := (most >= 0).sum()):
            raise VerificationError(f"there are {many // 2} edges, and there could be {could // 2}")
        return
    order = np.lexsort((-weight, s * n + t))
    s, t, weight = s[order], t[order], weight[order]
    first = np.diff(s * n + t, prepend=-1) > 0
    s, t, weight = s[first], t[first], weight[first]  # the heaviest of parallel edges
    largest, every = weight.max(initial=0) + 1, np.arange(n)
    costs = csr_array(
        (np.r_[largest - weight, np.full(n, largest)], (np.r_[s, every], np.r_[t, every])), shape=(n, n)
    )
    a, b = min_weight_full_bipartite_matching(costs)
    found, wanted = weight[result.mate[s] == t].sum(), (largest - costs[a, b]).sum() if n else 0
    if found != wanted:
        raise VerificationError(f"the edges weigh {found / 2:g}, and could weigh {wanted / 2:g}")

"""Communities: a second computation in NumPy and SciPy, as no look at a result costs less."""

from __future__ import annotations

import numpy as np

from vgraph.errors import VerificationError
from vgraph.graph.weights import own_weight
from vgraph.verifiers.common import *

MOVES = 400
"""How often groups have moved before a level is cut short."""


def labels(graph: Graph, result: Result, given: Arguments) -> None:
    """Rounds by sorting. A labelling that a further round leaves alone may still be wrong, as one label for all is."""
    s, t = arcs(graph)
    ends = np.r_[s, t] if graph.directed else s, np.r_[t, s] if graph.directed else t
    label = np.arange(graph.num_vertices)
    before, converged = label, False
    for done in range(given["max_rounds"]):
        again = _most_frequent(label, ends)
        if np.array_equal(again, label):
            converged = True
            break
        if np.array_equal(again, before):  # two labellings take turns for ever
            label = label if (given["max_rounds"] - done) % 2 == 0 else again
            break
        before, label = label, again
    equal(result.label, label, "label")
    flagged(result, converged)


def _most_frequent(label: Array, ends: tuple[Array, Array]) -> Array:
    """For each vertex the label that most of the others at its arcs have, the smallest of several."""
    n = label.size
    found, count = np.unique(ends[0] * max(n, 1) + label[ends[1]], return_counts=True)
    v, name = found // max(n, 1), found % max(n, 1)
    order = np.lexsort((name, -count, v))
    at, first = np.unique(v[order], return_index=True)
    again = label.copy()
    again[at] = name[order][first]
    return again


def modularity(graph: Graph, result: Result, given: Arguments) -> None:
    """NetworkX's formula on edges; that of undirected graphs counts both ends of an edge."""
    _modular(graph, result, np.asarray(given["community"], np.int64), given["resolution"])


def louvain(graph: Graph, result: Result, given: Arguments) -> None:
    """Communities are connected and bear the name of their smallest member; each level has added to the modularity.

    That there are none better is nothing that Louvain's method promises, or Leiden's.
    """
    from scipy.sparse.csgraph import connected_components

    n, community = graph.num_vertices, np.asarray(result.community, np.int64)
    s, t = arcs(graph)
    inside = community[s] == community[t]
    _, part = connected_components(matrix(graph, (s[inside], t[inside])), directed=False)
    smallest = np.full(n, n)
    np.minimum.at(smallest, part, np.arange(n))
    named = smallest[part]
    none_of(
        community != named,
        lambda v: f"community is {community[v]}; the least vertex of it on a way within it is {named[v]}",
    )
    _modular(graph, result, community, given["resolution"])
    levels, alone = int(result.levels), _modularity(graph, np.arange(n), given["resolution"])
    if not 0 <= levels <= given["max_levels"] or (levels == 0) != (community == np.arange(n)).all():
        raise VerificationError(f"levels is {levels}, and there are {np.unique(community).size} communities")
    least = alone[0] + levels * given["tolerance"]
    if result.modularity < least - 1e-9 * alone[1]:
        raise VerificationError(
            f"modularity is {result.modularity}, less than {least} for {levels} levels from single vertices"
        )
    if levels == given["max_levels"] or sum(r.label == "move" for r in result.trace) < MOVES:
        flagged(result, levels < given["max_levels"])


def _modular(graph: Graph, result: Result, community: Array, resolution: float) -> None:
    expected, size = _modularity(graph, community, resolution)
    same_number(result.modularity, expected, "modularity", 1e-9 * size)


def _modularity(graph: Graph, community: Array, resolution: float) -> tuple[float, float]:
    """It, and how large the numbers are together of which it is the difference."""
    n, weight = graph.num_vertices, in_scale(weights(graph, own_weight(graph)))
    s, t = arcs(graph)
    if not graph.directed:  # each edge once
        once = s <= t
        s, t, weight = s[once], t[once], weight[once]
    whole = float(weight.sum())
    if whole <= 0:
        return 0.0, 0.0
    leaving: Array = np.bincount(community[s], weight, n)
    coming: Array = np.bincount(community[t], weight, n)
    if not graph.directed:
        leaving = coming = (leaving + coming) / 2
    inside = float(weight[community[s] == community[t]].sum()) / whole
    chance = resolution * float(leaving @ coming) / whole**2
    return inside - chance, inside + abs(chance)

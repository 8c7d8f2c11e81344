"""Edges one after the other, each put where the edges before it make it cheap, and none looked at again.

The programs go over the stream in the driver, by one thread. `held` has a bit for each vertex and part, in `words`
words for a vertex: the parts that have an edge of it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.language.decorators import AlgorithmDef
from vgraph.partitioning.edges.problem import EdgeProblem
from vgraph.sequential import sequentially

BALANCE: Final = 1.0
"""What the load of a part weighs beside the copies that it saves: 1 in PowerGraph's greedy, and HDRF's lambda."""


@vg.algorithm
def scored(
    graph,
    sources: vg.array(vg.int64),
    targets: vg.array(vg.int64),
    k: vg.int64,
    words: vg.int64,
    limit: vg.int64,
    balance: vg.float64,
    by_degree: vg.int64,
):
    """The part of each edge: that of the best score, the first of equal ones, of those that are not full."""
    part = graph.vertex_property(vg.int32)
    held = graph.vertex_property(vg.uint64)
    degree = graph.vertex_property(vg.int64)
    load = graph.vertex_property(vg.int64)
    most = 0
    least = 0
    for i in range(len(sources)):
        u = sources[i]
        v = targets[i]
        degree[u] += 1
        degree[v] += 1
        share = vg.float64(degree[u]) / vg.float64(degree[u] + degree[v])
        of_u = 2.0 - share if by_degree == 1 else 1.0
        of_v = 1.0 + share if by_degree == 1 else 1.0
        spread = balance / (1.0 + vg.float64(most - least))
        best = 0
        highest = -1.0
        for w in range(words):
            at_u = held[u * words + w]
            at_v = held[v * words + w]
            for p in range(w * 64, min(k, w * 64 + 64)):
                score = vg.float64(most - load[p]) * spread
                if at_u & 1 == 1:
                    score += of_u
                if at_v & 1 == 1:
                    score += of_v
                at_u = at_u >> 1
                at_v = at_v >> 1
                if score > highest and load[p] < limit:
                    highest = score
                    best = p
        part[i] = best
        bit = vg.uint64(1) << vg.uint64(best % 64)
        held[u * words + best // 64] |= bit
        held[v * words + best // 64] |= bit
        load[best] += 1
        most = max(most, load[best])
        if load[best] == least + 1:
            least = load[0]
            for p in range(k):
                least = min(least, load[p])
    return part


def greedy(problem: EdgeProblem) -> NDArray[np.int32]:
    """PowerGraph's greedy heuristic (Gonzalez et al. 2012): where most of its ends are, then where there is room."""
    return _scored(problem, by_degree=0)


def hdrf(problem: EdgeProblem) -> NDArray[np.int32]:
    """High-degree replicated first (Petroni et al. 2015): the same, where the end of fewer edges so far counts more."""
    return _scored(problem, by_degree=1)


def _scored(problem: EdgeProblem, *, by_degree: int) -> NDArray[np.int32]:
    return streamed(problem, scored, limit=problem.limit, balance=BALANCE, by_degree=by_degree)


def streamed(problem: EdgeProblem, program: AlgorithmDef, **given: Any) -> NDArray[np.int32]:
    """The part of each edge, by its number, that a program of such parameters gives the edges of the stream."""
    words = -(-problem.k // 64)
    sources, targets = (ends[problem.stream] for ends in problem.ends)
    size = max(problem.graph.num_vertices * words, sources.size, problem.k)
    shared = {"sources": sources, "targets": targets, "k": problem.k, "words": words}
    parts = np.empty(sources.size, np.int32)
    parts[problem.stream] = sequentially(program, size, **shared, **given).part[: sources.size]
    return parts

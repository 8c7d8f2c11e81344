"""By a partition of the vertices, each of which weighs its edges (Bourse, Lelarge and Vojnovic 2014).

An edge inside a part belongs to it; one between two parts to either of them: by a coin, or one after the other to the
one that holds edges of both ends already, else to the one of fewer edges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.partitioning.edges.problem import EdgeProblem
from vgraph.partitioning.edges.streaming import streamed


@vg.algorithm
def either(
    graph,
    sources: vg.array(vg.int64),
    targets: vg.array(vg.int64),
    home: vg.array(vg.int32),
    k: vg.int64,
    words: vg.int64,
):
    """The part of each edge: those inside first, then the others in their order."""
    part = graph.vertex_property(vg.int32)
    held = graph.vertex_property(vg.uint64)
    load = graph.vertex_property(vg.int64)
    for between in range(2):
        for i in range(len(sources)):
            u = sources[i]
            v = targets[i]
            a = vg.int64(home[u])
            b = vg.int64(home[v])
            if (a != b) == (between == 1):
                copied_b = (held[u * words + b // 64] >> vg.uint64(b % 64)) & 1
                copied_a = (held[v * words + a // 64] >> vg.uint64(a % 64)) & 1
                better = load[b] < load[a] if copied_a == copied_b else copied_b > copied_a
                best = b if better else a
                part[i] = best
                bit = vg.uint64(1) << vg.uint64(best % 64)
                held[u * words + best // 64] |= bit
                held[v * words + best // 64] |= bit
                load[best] += 1
    return part


def weighted_random(problem: EdgeProblem) -> NDArray[np.int32]:
    """Edges between parts by a coin."""
    a, b = _homes(problem)
    coins = np.random.default_rng(problem.seed).integers(0, 2, a.size, np.int8) == 1
    return np.where(coins, a, b)


def weighted_greedy(problem: EdgeProblem) -> NDArray[np.int32]:
    """Edges between parts where they make fewest copies, then where there are fewer edges."""
    return streamed(problem, either, home=_parts(problem))


def _parts(problem: EdgeProblem) -> NDArray[np.int32]:
    """The part of each vertex."""
    degrees = np.bincount(np.concatenate(problem.ends), minlength=problem.graph.num_vertices)
    return problem.vertices(problem.graph, vertex_weight=np.maximum(degrees, 1))


def _homes(problem: EdgeProblem) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The parts of the ends of each edge."""
    parts = _parts(problem)
    sources, targets = problem.ends
    return parts[sources], parts[targets]

"""Edges of a vertex in one part go over to another part, where that saves copies: partitions of paths do not see it."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vgraph.partitioning.edges.problem import EdgeProblem
from vgraph.partitioning.programs.settling import settling
from vgraph.sequential import sequentially

MOST: Final = 1 << 28
"""Numbers in `count` at most: 1 GiB."""
TURNS: Final = 8
GROUP: Final = 64
"""Edges that go over together at most."""


def settled(problem: EdgeProblem, parts: NDArray[np.int32]) -> NDArray[np.int32]:
    """The parts after that, none of them above `problem.limit` unless it was; as they are where room is short."""
    sources, targets = problem.ends
    n, k, edges = problem.graph.num_vertices, problem.k, parts.size
    apart = np.flatnonzero(sources != targets)
    around = np.concatenate((sources, targets[apart]))
    order = np.argsort(around, kind="stable")
    incident = np.concatenate((np.arange(edges), apart))[order]
    around, other = around[order], np.concatenate((targets, sources[apart]))[order]
    where = parts[incident]
    split = np.unique(around[1:][(where[1:] != where[:-1]) & (around[1:] == around[:-1])])
    rows = 2 * split.size + 1000
    if rows * k > MOST:
        return parts
    found = sequentially(
        settling,
        max(n, edges, rows * k + k, GROUP),
        begin=np.searchsorted(around, np.arange(n + 1)),
        incident=incident,
        other=other,
        given=parts,
        split=split,
        sizes=np.bincount(parts, minlength=k),
        k=k,
        rows=rows,
        limit=problem.limit,
        turns=TURNS,
        group=GROUP,
    )
    after: NDArray[np.int32] = found.part[:edges]
    return after

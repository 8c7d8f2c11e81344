"""Edges of a vertex in one part go over to another part, where that saves copies: partitions of paths do not see it.

In the driver, by one thread. `number[v]` is the row of a vertex with copies in `count`, which has the edges of such a
vertex in each part; the others have all of theirs in one part, `home[v]`.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.partitioning.edges.problem import EdgeProblem
from vgraph.sequential import sequentially

MOST: Final = 1 << 28
"""Numbers in `count` at most: 1 GiB."""
TURNS: Final = 8
GROUP: Final = 64
"""Edges that go over together at most."""


@vg.algorithm
def settling(
    graph,
    begin: vg.array(vg.int64),
    incident: vg.array(vg.int64),
    other: vg.array(vg.int64),
    given: vg.array(vg.int32),
    split: vg.array(vg.int64),
    sizes: vg.array(vg.int64),
    k: vg.int64,
    rows: vg.int64,
    limit: vg.int64,
    turns: vg.int64,
    group: vg.int64,
):
    """The part of each edge. `incident` has the edges around each vertex from `begin` on, `other` their other ends; a
    self-loop is there once."""
    part = graph.vertex_property(vg.int32)
    number = graph.vertex_property(vg.int64)  # 0: all edges in one part
    owner = graph.vertex_property(vg.int64)
    count = graph.vertex_property(vg.int32)
    load = graph.vertex_property(vg.int64)
    mine = graph.vertex_property(vg.int64)  # where the edges that may go over are in `incident`
    for e in range(len(given)):
        part[e] = given[e]
    for p in range(k):
        load[p] = sizes[p]
    used = 0
    for v in split:
        used += 1
        number[v] = used
        owner[used] = v
        for i in range(begin[v], begin[v + 1]):
            count[used * k + part[incident[i]]] += 1
    saved = 1
    turn = 0
    while turn < turns and saved > 0:
        saved = 0
        turn += 1
        row = 0
        while row < used:
            row += 1
            v = owner[row]
            for p in range(k):
                size = vg.int64(count[row * k + p])
                if size > 0 and size <= group:
                    found = 0
                    for i in range(begin[v], begin[v + 1]):
                        if part[incident[i]] == p:
                            mine[found] = i
                            found += 1
                    best = -1
                    gain = 0
                    for q in range(k):
                        if q != p and count[row * k + q] > 0 and load[q] + size <= limit:
                            more = 1
                            for j in range(found):
                                w = other[mine[j]]
                                r = number[w]
                                if r == 0:
                                    more -= 0 if begin[w + 1] - begin[w] == 1 else 1
                                elif w != v:
                                    more += 1 if count[r * k + p] == 1 else 0
                                    more -= 1 if count[r * k + q] == 0 else 0
                            if more > gain:
                                gain = more
                                best = q
                    if best >= 0 and used + size < rows:
                        saved += gain
                        load[p] -= size
                        load[best] += size
                        count[row * k + p] = 0
                        count[row * k + best] += vg.int32(size)
                        for j in range(found):
                            w = other[mine[j]]
                            part[incident[mine[j]]] = vg.int32(best)
                            if number[w] == 0 and begin[w + 1] - begin[w] > 1:
                                used += 1
                                number[w] = used
                                owner[used] = w
                                count[used * k + p] = vg.int32(begin[w + 1] - begin[w])
                            if number[w] > 0 and w != v:
                                count[number[w] * k + p] -= 1
                                count[number[w] * k + best] += 1
    return part


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

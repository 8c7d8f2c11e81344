"""Edges of a vertex in one part go over to another part, where that saves copies.

In the driver, by one thread. `number[v]` is the row of a vertex with copies in `count`, which has the edges of such a
vertex in each part; the others have all of theirs in one part.
"""

from __future__ import annotations

import vgraph as vg


@vg.function
def as_given(graph, part, load, number, owner, count):
    """The parts as they were given; a row for each vertex with copies, and how many there are."""
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
    return used


@vg.function
def saving(graph, mine, number, count, v, found, p, q):
    """The copies that are saved if the `found` edges of v go from part p to q: of v, and of their other ends."""
    more = 1
    for j in range(found):
        w = other[mine[j]]
        r = number[w]
        if r == 0:
            more -= 0 if begin[w + 1] - begin[w] == 1 else 1
        elif w != v:
            more += 1 if count[r * k + p] == 1 else 0
            more -= 1 if count[r * k + q] == 0 else 0
    return more


@vg.function
def followed(graph, number, owner, count, v, w, used, p, q):
    """Note that an edge between v and w went from part p to q, in a row for w that it may get now; the rows in use."""
    rows_in_use = used
    if number[w] == 0 and begin[w + 1] - begin[w] > 1:
        rows_in_use += 1
        number[w] = rows_in_use
        owner[rows_in_use] = w
        count[rows_in_use * k + p] = vg.int32(begin[w + 1] - begin[w])
    if number[w] > 0 and w != v:
        count[number[w] * k + p] -= 1
        count[number[w] * k + q] += 1
    return rows_in_use


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
    used = as_given(graph, part, load, number, owner, count)
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
                            more = saving(graph, mine, number, count, v, found, p, q)
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
                            part[incident[mine[j]]] = vg.int32(best)
                            used = followed(graph, number, owner, count, v, other[mine[j]], used, p, best)
    return part

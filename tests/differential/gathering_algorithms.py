"""Algorithms whose visits gather what they write: matching by weight, Boruvka by contraction, a better cut."""

from __future__ import annotations

import vgraph as vg

# --- the greedy matching: an edge that is the heaviest one at both ends


@vg.operator
def marry(v):
    """Whether to ask again: the one that v likes best likes another one better."""
    near = vg.local_list(vg.vertex, 256)
    if v.mate != vg.none:
        return False
    best = vg.none
    most = -1
    for edge in v.out_edges:
        near.append(edge.dst)
        if edge.dst.mate == vg.none and edge.weight > most:
            best = edge.dst
            most = edge.weight
    for edge in best.out_edges:
        near.append(edge.dst)
        if edge.dst.mate == vg.none and edge.weight > most:
            return True
    if best != vg.none:
        best.mate = v
        v.mate = best
    return False


@vg.algorithm
def greedy_matching(graph):
    mate = graph.vertex_property(vg.vertex)
    rounds = 0
    single = graph.vertices
    while single:
        single = graph.vertex_filter(marry, single)
        rounds += 1
    return mate, rounds


# --- minimum spanning forest: components are trees, whose edges go to the larger one


@vg.operator
def propose(v):
    """The lightest edge that leaves v's component; weights differ."""
    for edge in v.out_edges:
        if edge.dst.part != v.part:
            r = v.part
            r.cost, r.start, r.end = min((r.cost, r.start, r.end), (edge.weight, v, edge.dst))


@vg.operator
def contract(v, graph):
    """Unite two components, if nobody has done so from the other side; paths have at most log2(n) steps."""
    path = vg.local_list(vg.vertex, 64)
    if v.cost == vg.inf:
        return
    a = v.start
    b = v.end
    path.append(a)
    while a.parent != vg.none:
        a = a.parent
        path.append(a)
    path.append(b)
    while b.parent != vg.none:
        b = b.parent
        path.append(b)
    if a != b:
        if a.size > b.size:
            b.parent = a
            a.size += b.size
        else:
            a.parent = b
            b.size += a.size
        graph.total += v.cost
        graph.merged += 1


@vg.operator
def settle(v):
    """The component of v, by its root."""
    top = v
    while top.parent != vg.none:
        top = top.parent
    v.part = top
    v.cost = vg.inf


@vg.algorithm
def boruvka(graph):
    parent = graph.vertex_property(vg.vertex)
    part = graph.vertex_property(vg.vertex)
    size = graph.vertex_property(vg.int64, fill=1)
    cost = graph.vertex_property(vg.int32)
    start = graph.vertex_property(vg.vertex)
    end = graph.vertex_property(vg.vertex)
    graph.total = 0
    graph.merged = 1
    while graph.merged > 0:
        graph.merged = 0
        graph.vertex_apply(settle)
        graph.vertex_apply(propose)
        graph.vertex_apply(contract)
    return part, graph.total


# --- a better cut: who has more neighbors on its own side goes over


@vg.operator
def count_own(v):
    for u in v.neighbors:
        if u.side == v.side:
            v.own += 1
        else:
            v.own -= 1


@vg.operator
def change(v):
    """Each knows how many more neighbors it has on its side than on the other: whoever goes over tells."""
    near = vg.local_list(vg.vertex, 256)
    if v.own <= 0:
        return False
    for u in v.neighbors:
        near.append(u)
    v.side = not v.side
    v.own = -v.own
    for u in near:
        if u != v:
            u.own += 2 if u.side == v.side else -2
    return True


@vg.algorithm
def better_cut(graph, begin: vg.vertex_property(vg.bool_)):
    """From a given cut to one that no single vertex makes better."""
    side = graph.vertex_property(vg.bool_)
    side[:] = begin
    own = graph.vertex_property(vg.int64)
    graph.vertex_apply(count_own)
    moved = graph.vertices
    moves = 0
    while moved:
        moved = graph.vertex_filter(change)
        moves += len(moved)
    return side, own, moves

"""Two parts of each region of a small graph, by many tries at once: growing, then Fiduccia and Mattheyses (1982).

A vertex acts for each try; what it knows of others lies in scratch, so tries do not see each other. Vertices that may
change sides are in the heap of their side, the best gain first: that of side 0 begins at 0, that of side 1 at the end.
"""

from __future__ import annotations

import vgraph as vg


@vg.function
def place(side, i, graph):
    """Where the i-th entry of a side's heap lies."""
    return vg.vertex(i) if side == 0 else vg.vertex(graph.num_vertices - 1 - i)


@vg.function
def rise(u, start, graph):
    """Put u at an entry of its side's heap, or above, where it belongs; entries above it come down."""
    i = start
    going = i > 0
    while going:
        above = vg.vertex(place(u.side, (i - 1) // 2, graph).entry)
        if above.gain < u.gain:
            place(u.side, i, graph).entry = above.id
            above.at = i + 1
            i = (i - 1) // 2
            going = i > 0
        else:
            going = False
    place(u.side, i, graph).entry = u.id
    u.at = i + 1


@vg.function
def sink(u, start, size, graph):
    """Put u at an entry of its side's heap, or below, where it belongs; entries below it come up."""
    i = start
    child = 2 * i + 1
    while child < size:
        below = vg.vertex(place(u.side, child, graph).entry)
        if child + 1 < size:
            other = vg.vertex(place(u.side, child + 1, graph).entry)
            if other.gain > below.gain:
                below = other
                child += 1
        if below.gain > u.gain:
            place(u.side, i, graph).entry = below.id
            below.at = i + 1
            i = child
            child = 2 * i + 1
        else:
            child = size
    place(u.side, i, graph).entry = u.id
    u.at = i + 1


@vg.function
def outside(region, weight):
    """By how much side 0 of a region leaves its bounds with this weight."""
    return max(low[region] - weight, weight - high[region], 0)


@vg.function
def grow(v, region, attempt, graph):
    """Side 0 from a vertex by lot: in odd tries by least cut, in even ones breadth first, as if gains were turns."""
    begin = starts[region]
    end = starts[region + 1]
    greedy = attempt % 2 == 1
    for i in range(begin, end):
        u = order[i]
        u.side = 1
        if greedy:
            for e in u.out_edges:
                if e.dst.region == region:
                    u.gain -= e.weight
    mass = vg.int64(0)
    size = 0
    turn = 0
    while mass < aim[region]:
        u = vg.vertex(place(1, 0, graph).entry)
        if size == 0:  # what is not connected begins anew
            i = begin + vg.random_below(end - begin, attempt, region, turn)
            while order[i].side == 0:
                i = begin if i + 1 == end else i + 1
            u = order[i]
        else:
            size -= 1
            if size > 0:
                sink(vg.vertex(place(1, size, graph).entry), 0, size, graph)
        u.side = 0
        mass += u.load
        turn += 1
        for e in u.out_edges:
            w = e.dst
            if w.region == region and w.side == 1:
                fresh = w.at == 0
                if greedy:
                    w.gain += 2 * vg.int64(e.weight)
                elif fresh:
                    w.gain = -turn
                if fresh:
                    size += 1
                    rise(w, size - 1, graph)
                elif greedy:
                    rise(w, w.at - 1, graph)
    v.mass = mass


@vg.function
def fill_heaps(v, region, graph):
    """Those at the border of the sides, or all while the bounds are left; and the cut."""
    sizes0 = 0
    sizes1 = 0
    doubled = vg.int64(0)
    for i in range(starts[region], starts[region + 1]):
        u = order[i]
        u.at = 0
        u.locked = False
        outer = vg.int64(0)
        inner = vg.int64(0)
        for e in u.out_edges:
            if e.dst.region == region:
                if e.dst.side == u.side:
                    inner += e.weight
                else:
                    outer += e.weight
        doubled += outer
        u.gain = outer - inner
        if outer > 0 or v.excess > 0:
            if u.side == 0:
                sizes0 += 1
                rise(u, sizes0 - 1, graph)
            else:
                sizes1 += 1
                rise(u, sizes1 - 1, graph)
    v.sizes0 = sizes0
    v.sizes1 = sizes1
    v.score = doubled // 2


@vg.function
def giving(v, region, weight, graph):
    """The side that gives its best vertex: the one that is too heavy, else that of the better one."""
    side = 0 if v.sizes0 > 0 else 1
    if v.sizes0 > 0 and v.sizes1 > 0:
        first = vg.vertex(place(0, 0, graph).entry)
        second = vg.vertex(place(1, 0, graph).entry)
        fits0 = weight - first.load >= low[region]
        fits1 = weight + second.load <= high[region]
        tie = first.gain == second.gain and 2 * weight < low[region] + high[region]
        wanted = second.gain > first.gain or tie
        if weight < low[region] or (weight <= high[region] and fits1 and (wanted or not fits0)):
            side = 1
    return side


@vg.function
def tell(v, u, side, region, graph):
    """Gains around u, which has left a side: whoever is not locked goes up or down in its heap, or into it."""
    for e in u.out_edges:
        w = e.dst
        if w.region == region and not w.locked:
            change = vg.int64(2) * e.weight if w.side == side else vg.int64(-2) * e.weight
            w.gain += change
            i = w.at - 1
            if i < 0 and w.side == 0:
                v.sizes0 += 1
                rise(w, v.sizes0 - 1, graph)
            elif i < 0:
                v.sizes1 += 1
                rise(w, v.sizes1 - 1, graph)
            elif change > 0:
                rise(w, i, graph)
            else:
                sink(w, i, v.sizes0 if w.side == 0 else v.sizes1, graph)


@vg.function
def improve(v, region, graph):
    """Moves along the heaps, losses among them; back to the best state, which `better` says if there was one."""
    weight = v.mass
    now = v.score
    moved = 0
    kept = 0
    idle = 0
    while idle <= patience and v.sizes0 + v.sizes1 > 0:
        side = giving(v, region, weight, graph)
        u = vg.vertex(place(side, 0, graph).entry)
        size = (v.sizes0 if side == 0 else v.sizes1) - 1
        if size > 0:
            sink(vg.vertex(place(side, size, graph).entry), 0, size, graph)
        if side == 0:
            v.sizes0 = size
        else:
            v.sizes1 = size
        u.at = 0
        u.locked = True
        after = weight + (u.load if side == 1 else -u.load)
        over = outside(region, after)
        if over == 0 or over < outside(region, weight):
            u.side = 1 - side
            weight = after
            now -= u.gain
            vg.vertex(moved).log = u.id
            moved += 1
            tell(v, u, side, region, graph)
            idle += 1
            if over < v.excess or (over == v.excess and now < v.score):
                v.score = now
                v.excess = over
                kept = moved
                idle = 0
    v.better = kept > 0
    while moved > kept:
        moved -= 1
        u = vg.vertex(vg.vertex(moved).log)
        u.side = 1 - u.side
        weight += u.load if u.side == 0 else -u.load
    v.mass = weight


@vg.operator
def bisect(v, graph):
    """Try `v % tries` for region `v // tries`: grow one side, improve both; a bit at each vertex says which."""
    region = v.id // tries
    attempt = v.id % tries
    grow(v, region, attempt, graph)
    v.excess = outside(region, v.mass)
    passes = 0
    while passes < most_passes:
        fill_heaps(v, region, graph)
        improve(v, region, graph)
        passes = passes + 1 if v.better else most_passes
    for i in range(starts[region], starts[region + 1]):
        if order[i].side == 1:
            order[i].sides |= vg.int64(1) << attempt


@vg.algorithm
def bisection(
    graph,
    agents,
    region: vg.vertex_property(vg.int32),
    order: vg.array(vg.vertex),
    starts: vg.array(vg.int64),
    low: vg.array(vg.int64),
    high: vg.array(vg.int64),
    aim: vg.array(vg.int64),
    tries: vg.int64,
    most_passes: vg.int64,
    patience: vg.int64,
):
    """For each region, `tries` ways to divide it: bit t of `sides` says where try t has a vertex.

    Region r has the vertices `order[starts[r]:starts[r + 1]]`. Side 0 is to weigh from low[r] to high[r], and is
    grown up to aim[r]. At vertex `r * tries + t` stand the `score` of try t, its cut, and its `excess` over the bounds.
    """
    sides = graph.vertex_property(vg.int64)
    score = graph.vertex_property(vg.int64)
    excess = graph.vertex_property(vg.int64)
    mass = graph.vertex_property(vg.int64)  # of side 0
    sizes0 = graph.vertex_property(vg.int32)
    sizes1 = graph.vertex_property(vg.int32)
    better = graph.vertex_property(vg.bool_)
    side = graph.scratch(vg.int32)
    gain = graph.scratch(vg.int64)
    at = graph.scratch(vg.int32)
    entry = graph.scratch(vg.int32)
    log = graph.scratch(vg.int32)
    locked = graph.scratch(vg.bool_)
    graph.vertex_apply(bisect, graph.frontier(agents))
    return sides, score, excess

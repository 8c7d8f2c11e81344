"""Programs that together use all of the language; their IR lies in `golden/`."""

from __future__ import annotations

import enum

import numpy as np

import vgraph as vg
from vgraph import inf, sqrt

LIMIT = 10
SCALE = np.float32(0.5)
DEBUG = False


class Mode(enum.IntEnum):
    FAST = 1
    SLOW = 2


# --- reductions, in all spellings ------------------------------------------------------------------------------


@vg.operator
def reductions(graph, src, edge, dst):
    dst.low = min(src.low + edge.weight, dst.low, LIMIT)
    dst.total = dst.total + src.low - edge.weight
    dst.product = 2 * dst.product
    dst.bits |= src.bits
    dst.seen = dst.seen or src.seen
    dst.both &= src.seen
    dst.marked = True
    if edge.weight > 3 and src.low > dst.high:
        dst.high = src.low
    dst.lost -= 1
    graph.largest = max(graph.largest, edge.weight)
    graph.found = True
    if src.low < graph.smallest:
        graph.smallest = src.low


@vg.algorithm
def all_reductions(graph):
    low = graph.vertex_property(vg.int32, fill=inf)
    high = graph.vertex_property(vg.int32, fill=-inf)
    total = graph.vertex_property(vg.int64)
    product = graph.vertex_property(vg.float32, fill=1)
    bits = graph.vertex_property(vg.uint64)
    seen = graph.vertex_property(vg.bool_)
    both = graph.vertex_property(vg.bool_, fill=True)
    marked = graph.vertex_property(vg.bool_)
    lost = graph.vertex_property(vg.uint32)
    graph.largest = 0
    graph.smallest = vg.inf
    graph.found = False
    changed = graph.edge_apply(reductions, graph.vertices, label="spread")
    size = len(changed)
    return low, high, total, product, bits, seen, both, marked, lost, size, graph.largest, graph.smallest


# --- claims ----------------------------------------------------------------------------------------------------


@vg.operator
def visit(src, edge, dst, graph):
    if src.open and dst.level == -1:
        step = graph.depth + 1
        dst.level = step
        dst.parent = src
        graph.reached += 1


@vg.operator
def mark(v):
    for u in v.out_neighbors:
        if not u.taken:
            u.taken = True


@vg.algorithm
def claims(graph, source):
    level = graph.vertex_property(vg.int32, fill=-1)
    parent = graph.vertex_property(vg.vertex)
    open = graph.vertex_property(vg.bool_, fill=True)
    taken = graph.vertex_property(vg.bool_)
    level[source] = 0
    graph.depth = 0
    graph.reached = 0
    frontier = graph.frontier(source)
    while frontier and graph.depth < LIMIT:
        frontier = graph.edge_apply(visit, frontier)
        graph.depth += 1
    graph.vertex_apply(mark)
    return level, parent, taken, graph.reached


# --- local variables, branches, loops --------------------------------------------------------------------------


@vg.operator
def locals_of_all_kinds(v):
    best = vg.inf
    count = 0
    for u in v.out_neighbors:
        if u.x < best:
            best = u.x
            last = u
        for u2 in u.in_neighbors & v.out_neighbors:  # noqa: B007
            count += 1
    if v.x > 1:
        side = 1
    else:
        side = 2.5
    while count > 0 and side < 9:
        count -= 2
        if count == 3:
            break
        i = count
        for i in range(1, 4, 2):
            side = side + i
        v.y = i
    for e in v.in_edges:
        if e.src == e.dst:
            continue
        v.x = v.x + e.weight * side
    v.x = best if 0 < v.x <= 5.0 != side else v.x
    if count > 100:
        v.y = last.y


@vg.algorithm
def local_variables(graph):
    x = graph.vertex_property(vg.float32, fill=0.5)
    y = graph.vertex_property(vg.int64)
    graph.vertex_apply(locals_of_all_kinds)
    return x, y


# --- helpers ---------------------------------------------------------------------------------------------------


@vg.function
def square(x):
    return x * x


@vg.function
def clamp(x, low, high):
    """x between two bounds."""
    if x < low:
        return low
    if x > high:
        return high
    return x


@vg.function
def distance(u, w):
    total = 0.0
    for i in range(3):
        total += square(u.place[i] - w.place[i])
    return sqrt(total)


@vg.function
def record(v, amount):
    v.sum = amount
    v.times += 1


def operator_of(limit):
    @vg.operator
    def measure(v):
        farthest = 0.0
        for u in v.out_neighbors:
            farthest = max(farthest, clamp(distance(u, v), 0, limit))
            if v.sum > 0 and distance(u, v) > limit:
                farthest = limit
        record(v, farthest * SCALE)

    return measure


measure = operator_of(7.5)


@vg.algorithm
def helpers(graph):
    place = graph.vertex_property(vg.vector(vg.float32, 3), fill=1.0)
    sum = graph.vertex_property(vg.float64)
    times = graph.vertex_property(vg.int32)
    graph.vertex_apply(measure)
    return sum, times


# --- vectors ---------------------------------------------------------------------------------------------------


@vg.operator
def spread(src, edge, dst):
    dst.received += src.feature * edge.weight


@vg.operator
def combine(v):
    v.feature = (v.feature + 2 * v.received) / vg.sum(v.received)
    v.norm = vg.sqrt(vg.dot(v.feature, v.feature)) + v.feature[1]


@vg.algorithm
def vectors(graph, rounds=3):
    feature = graph.vertex_property(vg.vector(vg.float32, 4), fill=1)
    received = graph.vertex_property(vg.vector(vg.float32, 4))
    norm = graph.vertex_property(vg.float32)
    for i in range(rounds):  # noqa: B007
        graph.edge_apply(spread)
        graph.vertex_apply(combine)
    return feature, norm


# --- vertices as values ----------------------------------------------------------------------------------------


@vg.operator
def climb(v):
    if v.up != vg.none and v.up.up != vg.none:
        v.up = v.up.up.up
    v.up.load += 1
    v.depth = v.up.depth + v.up.out_degree


@vg.operator
def unite(src, edge, dst):
    vg.union(src.component, dst.component)


@vg.algorithm
def vertex_values(graph, sources, start: vg.vertex = 0):
    up = graph.vertex_property(vg.vertex)
    load = graph.vertex_property(vg.int32)
    depth = graph.vertex_property(vg.int64)
    component = graph.disjoint_sets()
    for s in sources:
        up[s] = start
        depth[s] = s
    for i in range(3):
        depth[i] += 1
    top = up[start]
    graph.root = top
    graph.vertex_apply(climb)
    graph.edge_apply(unite)
    if depth[start] < 0:
        vg.fail("a depth is negative")
    return up, component, load, top


# --- what is known at compile time -----------------------------------------------------------------------------


@vg.operator
def plain(v):
    v.rank = 1


@vg.operator
def weighted(v, graph):
    v.rank = v.preference + Mode.SLOW if graph.directed else 0


@vg.algorithm
def constants(graph, preference=None, dtype=vg.float32, how="all"):
    rank = graph.vertex_property(dtype)
    cost = graph.vertex_property(graph.weight.path_dtype, fill=inf)
    if preference is None:
        graph.vertex_apply(plain)
    else:
        graph.vertex_apply(weighted)
    if not graph.directed or DEBUG:
        graph.vertex_apply(missing)  # noqa: F821
    if how == "all":
        m = graph.num_edges
    else:
        m = graph.no_such_thing
    if dtype == vg.float32:
        n = graph.num_vertices
    return rank, cost, m, n


# --- lists of frontiers ----------------------------------------------------------------------------------------


@vg.operator
def odd(v):
    return v.id % 2 == 1 and v.out_degree > 0


@vg.algorithm
def frontiers(graph, source):
    rank = graph.vertex_property(vg.float64)
    nothing = graph.frontier()
    levels = [graph.frontier(source), nothing]
    frontier = graph.vertices
    while graph.vertex_filter(odd, frontier):
        frontier = graph.vertex_filter(odd, levels[-1])
        levels.append(frontier)
        if len(levels) > 5 or not frontier:
            break
    for level in levels:
        graph.vertex_apply(plain, level)
    for frontier in reversed(levels):
        graph.vertex_apply(plain, frontier, label="back")
    other = frontier
    steps = len(other)
    return rank, steps

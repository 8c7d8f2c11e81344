"""Early returns of operators, helpers and algorithms, guard clauses, the else of loops, enumerate.

graphs: {"directed": true, "id_bits": 32, "edges": {"w": "int32"}, "vertices": {}}
"""

import vgraph as vg


@vg.function
def first_above(v, limit):
    for i, u in enumerate(v.out_neighbors, 1):
        if u.x > limit:
            return i
        if i > 4:
            break
    else:
        if limit > 3:
            return -1
    for k in range(5):
        for j in range(k):
            if (j * k + v.id) % 7 == 5:
                return j + 0.5
    return 0


@vg.function
def halvings(x):
    k = 0
    y = x + 1
    while True:
        if y <= 1:
            return k
        y = y // 2 if y % 2 == 0 else 3 * y + 1
        k += 1
        if k > 9:
            for j in range(3):
                if j + k == 12:
                    return -1.5


@vg.function
def bump(v):
    if v.x > 4:
        return
    v.x += 1
    for u in v.in_neighbors:
        if u == v:
            v.x += 10
            return
    v.x += 2


@vg.operator
def start(v):
    v.x = v.id * 7 % 11 - 3
    if v.x < 0:
        return
    if v.out_degree > 2:
        v.n = 1
        if v.in_degree > 2:
            return
        v.n = 2
    elif v.out_degree == 1:
        return
    for e in v.out_edges:
        if e.w % 3 == 0:
            v.n += 5
            return
        v.n += 1
    v.n = -v.n


@vg.operator
def again(v):
    bump(v)
    v.f = first_above(v, v.n % 6) + halvings(v.id % 30)


@vg.operator
def claim(src, edge, dst, graph):
    if dst.level != -1 or edge.w < 0:
        return
    dst.level = graph.depth
    graph.reached += 1


@vg.operator
def spread(src, edge, dst):
    if src.x > 5:
        return
    if not src.open:
        return
    dst.low = min(dst.low, src.x + edge.w)
    dst.open = True


@vg.operator
def chosen(v):
    if v.x > 6:
        return False
    for i, e in enumerate(v.out_edges):
        if e.dst.low < i:
            v.n = i
            return v.out_degree > 1
    else:
        v.n = 100
    while v.n > 90:
        if v.n % 4 == 1:
            return True
        v.n -= 1
    return v.low > 0


@vg.operator
def tally(v):
    for u in v.out_neighbors:
        if u.seen:
            break
        u.seen = True
    else:
        v.n += 1000


@vg.algorithm
def program(graph, source: vg.vertex, several: list[vg.vertex], rounds=2):
    x = graph.vertex_property(vg.int64)
    n = graph.vertex_property(vg.int64)
    f = graph.vertex_property(vg.float64)
    low = graph.vertex_property(vg.int64, fill=50)
    level = graph.vertex_property(vg.int64, fill=-1)
    open = graph.vertex_property(vg.bool_)
    seen = graph.scratch(vg.bool_)
    graph.depth = 0
    graph.reached = 0
    sizes = 0
    graph.vertex_apply(start)
    if x[source] == 3:
        return x, n, f, low, level, graph.reached, sizes
    graph.vertex_apply(again)
    level[source] = 0
    open_source = graph.frontier(source)
    graph.vertex_apply(open_up, open_source)
    frontier = graph.frontier(source)
    while frontier:
        graph.depth += 1
        frontier = graph.edge_apply(claim, frontier)
        if graph.depth > 6:
            return x, n, f, low, level, graph.reached, sizes
    for i in range(rounds):
        reached = graph.edge_apply(spread)
        sizes = sizes * 5 + len(reached)
        if sizes > 4000:
            break
    else:
        sizes += 100000
    found = graph.vertex_filter(chosen)
    for i, s in enumerate(several, rounds):
        if n[s] == 100:
            sizes += i
            if s == source:
                return x, n, f, low, level, graph.reached, sizes
        sizes += 10 * i
    sizes = sizes * 1000 + len(found)
    graph.vertex_apply(tally)
    return x, n, f, low, level, graph.reached, sizes


@vg.operator
def open_up(v):
    v.open = True

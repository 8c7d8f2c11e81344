"""Local arrays: of vertices, numbers and bools, in loops and helpers, in every kind of operator and schedule.

graphs: {"directed": true, "id_bits": 32, "edges": {"w": "int32"}, "vertices": {}}
"""

import vgraph as vg

DEPTH = 5


@vg.function
def put(stack, top, vertex):
    stack[top] = vertex


@vg.function
def reachable(v, limit):
    """Vertices at the ends of walks of up to 4 arcs that go up, each as often as there are such walks."""
    stack = vg.local(vg.vertex, DEPTH)
    following = vg.local(vg.int64, DEPTH)
    put(stack, 0, v)
    top = 0
    count = 0
    while top >= 0:
        u = stack[top]
        k = following[top]
        if top == DEPTH - 1 or k >= u.out_degree:
            top -= 1
        else:
            following[top] += 1
            w = u.out_neighbors[k]
            if w.id > u.id and w.x < limit:
                top += 1
                count += 1
                put(stack, top, w)
                following[top] = 0
    return count


@vg.operator
def start(v):
    v.x = v.id * 7 % 11


@vg.operator
def walk(v):
    v.n = reachable(v, 9)
    kinds = vg.local(vg.int32, 4)
    seen = vg.local(vg.bool_, 3, fill=True)
    low = vg.local(vg.float64, 3, fill=0.5 + v.x)
    for u in v.out_neighbors:
        row = vg.local(vg.uint32, 2, fill=1)
        for e in u.in_edges:
            row[e.w] += 1
            if e.w % 3 == 0:
                seen[e.src.x % 3] = False
        row[0] *= row[1]
        kinds[row[0] % 4] += 1
        kinds[-1] -= len(kinds)
        low[u.x % 3] = min(low[u.x % 3], row[0] / 4)
    before = kinds
    kinds[1] = 1000
    v.kinds = before
    v.sum = vg.sum(kinds) + vg.argmin(low) + vg.dot(low, low * 2)
    if before == kinds or seen[1]:
        v.sum += 100
    if vg.argmax(seen) == 0:
        nearest = vg.local(vg.vertex, 2, fill=v)
        if v.out_degree > 2:
            nearest[1] = v.out_neighbors[2]
        nearest[1].most = max(nearest[1].most, v.x)


@vg.operator
def spread(src, edge, dst):
    digits = vg.local(vg.int32, 3)
    rest = edge.w
    for i in range(len(digits)):
        digits[i] = rest % 3
        rest = rest // 3
    if digits[0] != digits[2]:
        dst.low = min(dst.low, digits[src.x])
    dst.total += digits[1] + src.x


@vg.operator
def claim(src, edge, dst, graph):
    codes = vg.local(vg.int64, 2, fill=graph.depth)
    codes[dst.x] += 1
    if dst.level == -1:
        dst.level = graph.depth
        graph.reached += codes[0]


@vg.algorithm
def program(graph, source: vg.vertex):
    x = graph.vertex_property(vg.int64)
    n = graph.vertex_property(vg.int64)
    kinds = graph.vertex_property(vg.vector(vg.int32, 4))
    sum = graph.vertex_property(vg.float64)
    most = graph.vertex_property(vg.int64)
    low = graph.vertex_property(vg.int32, fill=9)
    total = graph.vertex_property(vg.int64)
    level = graph.vertex_property(vg.int64, fill=-1)
    graph.depth = 0
    graph.reached = 0
    sizes = 0
    graph.vertex_apply(start)
    graph.vertex_apply(walk)
    level[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        graph.depth += 1
        frontier = graph.edge_apply(claim, frontier)
    for _ in range(2):
        frontier = graph.edge_apply(spread)
        sizes += len(frontier)
    return x, n, kinds, sum, most, low, total, level, graph.reached, sizes

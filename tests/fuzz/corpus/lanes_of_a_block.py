"""Lanes of a warp once waited for each other inside what only the first of them does.

graphs: {"directed": true, "id_bits": 32, "edges": {"cost": "int32"}, "vertices": {}}
way: {"device": "cuda", "schedule": {"op0": {"direction": "pull", "drive": "topology", "balance": "block"}, "op1": {"direction": "pull", "drive": "topology", "balance": "edge"}, "op2": {"direction": "push", "drive": "topology", "balance": "split(4)"}}}
"""

import vgraph as vg

SIZE = 30


@vg.operator
def start(v):
    v.a = vg.int32(v.id * 7 % 11 - 3)
    v.b = v.id * v.id - 20
    v.c = vg.uint32(v.id * 5 % 13)
    v.m = v.id * 37 % 64
    v.x = v.id / 4 - 1.0
    v.y = vg.float32(v.id % 5 * 0.5)


@vg.function
def mix(p, q):
    return vg.int64(p) * 3 - (vg.int64(q) >> 1)


@vg.function
def clip(p):
    return min(max(vg.int64(p), -30), 30 * 100)


@vg.operator
def op0(v, graph):
    v.m = vg.int64((v.a * 3) * (vg.int64(v.m) - 6))
    t1 = vg.int64(3)
    for t2 in v.in_edges:
        t1 += vg.int64((vg.int64(v.m) - 6) if (0 <= vg.int64(t2.dst.m) < 10) else 4)
        if vg.int64(t2.cost) == 3:
            t1 -= 1
    graph.low = min(graph.low, vg.int64(t1 // vg.int64(v.in_degree)))
    return ((v == v) and (0 <= vg.int64(SIZE) < 11)) and (v.y < v.y)


@vg.operator
def op1(v, graph):
    t3 = vg.int64(3)
    for t4 in range(vg.int64(v.out_degree)):
        t3 = vg.int64(abs(v.id)) + t3
    t5 = vg.int64(1)
    for t6 in v.in_neighbors:
        t5 += vg.int64(clip(vg.int64(t6.x)))
    graph.total += vg.int64(t3 - vg.int64(v.b))


@vg.operator
def op2(src, edge, dst, graph):
    t7 = vg.float64(vg.floor(max(dst.x, 3)))
    if 0 <= min(vg.int64(src.a), 5) < 20:
        dst.m = dst.m + vg.int64(mix((vg.int64(src.b) * vg.int64(src.m)), (vg.int64(dst) + vg.int64(dst.c))))
    if (vg.float64(src.m) / (2.0 + 0.0)) > (vg.float64(vg.int64(src.m)) - 0.5):
        dst.y = max(
            dst.y,
            vg.float32(
                (vg.float64(src.a) / (src.x + 0.0)) if (dst.x > dst.x) else vg.float64(max(src.y, 1.25))
            ),
        )
    if (vg.int64(src) / 4) == (vg.float64(vg.int64(src)) if (dst == dst) else vg.float64(0.5)):
        dst.b = dst.b | vg.int64(mix((vg.int64(src.m) - 4), (vg.int64(src.b) % src.b)))
    dst.sink += vg.float64(vg.int64(graph.k) / 2)
    graph.total += vg.int64(src.a + vg.int64(SIZE))


@vg.algorithm
def program(graph, source: vg.vertex, rounds=2):
    a = graph.vertex_property(vg.int32, fill=7)
    b = graph.vertex_property(vg.int64, fill=1)
    c = graph.vertex_property(vg.uint32, fill=0)
    m = graph.vertex_property(vg.int64, fill=7)
    x = graph.vertex_property(vg.float64, fill=0)
    y = graph.vertex_property(vg.float32, fill=100)
    mark = graph.vertex_property(vg.int64, fill=-1)
    note = graph.vertex_property(vg.int64)
    sink = graph.vertex_property(vg.float64)
    graph.vertex_apply(start)
    b[source] = 5
    graph.total = 0
    graph.low = 1000
    graph.k = 3
    sizes = 0
    f0 = graph.vertex_filter(op0, graph.frontier(source))
    sizes = sizes * 7 + len(f0)
    graph.vertex_apply(op1)
    graph.edge_apply(op2, reverse=True)
    graph.k += 1
    low = graph.low
    return a, b, c, m, x, y, mark, note, sink, graph.total, low, sizes

"""Values near the largest int64 in a priority queue: popping them never ended.

graphs: {"directed": true, "id_bits": 32, "edges": {}, "vertices": {}}
way: {"device": "cpu", "threads": 2}
"""

import vgraph as vg


@vg.operator
def spread(v):
    v.x = vg.int64(9223372036854775807) - v.id % 3
    v.n = 0


@vg.operator
def touch(v):
    v.n += 1


@vg.algorithm
def program(graph):
    x = graph.vertex_property(vg.int64)
    n = graph.vertex_property(vg.int64)
    graph.vertex_apply(spread)
    queue = graph.priority_queue(x)
    sizes = 0
    while queue:
        bucket = queue.pop()
        graph.vertex_apply(touch, bucket)
        sizes = sizes * 5 + len(bucket) + queue.level
    return x, n, sizes

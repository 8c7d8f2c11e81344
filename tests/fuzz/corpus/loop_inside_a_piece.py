"""An edge operator with a loop of its own over src's arcs: where src was cut into pieces, it walked a piece of them.

graphs: {"directed": true, "id_bits": 64, "edges": {"w": "int32"}, "vertices": {}}
way: {"device": "cpu", "threads": 1, "schedule": {"op0": {"balance": "split(4)"}}}
way: {"device": "cpu", "threads": 2, "schedule": {"op0": {"balance": "edge"}}}
way: {"device": "cpu", "threads": 2, "schedule": {"op0": {"balance": "split(4)", "direction": "pull"}}}
way: {"device": "interpret", "station": "insert-barriers", "schedule": {"op0": {"balance": "split(4)"}}}
way: {"device": "cuda", "schedule": {"op0": {"balance": "twc"}}}
"""

import vgraph as vg


@vg.function
def spread(u):
    total = 0
    for x in u.out_neighbors:
        total += x.id
    for x in u.in_neighbors:
        total += x.id
    return total


@vg.operator
def op0(src, edge, dst):
    dst.x += spread(src) + 3 * spread(dst)


@vg.algorithm
def program(graph):
    x = graph.vertex_property(vg.int64)
    graph.edge_apply(op0)
    return x

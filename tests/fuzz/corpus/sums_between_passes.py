"""What visits add to a global in the first pass of a round is not seen in the second; and loops over the neighbors of a
vertex inside a walk along a plan.

graphs: {"directed": true, "id_bits": 32, "edges": {"w": "int32"}, "vertices": {}}
orders: {"spread": "agm_n"}
way: {"device": "interpret", "station": "insert-barriers", "schedule": {"spread": {"conflict": "agm_n"}}}
"""

import vgraph as vg


@vg.operator
def gather(v, graph):
    near = vg.local_list(vg.vertex, 3, more=800)
    for u in v.out_neighbors:
        near.append(u)
    for u in near:
        u.x = max(u.x, graph.visits)
    graph.visits += 1


@vg.operator
def spread(src, edge, dst):
    for u in src.in_neighbors:
        src.y = 3 * src.y + u.x
    dst.y = dst.y - src.y


@vg.algorithm
def program(graph):
    x = graph.vertex_property(vg.int64)
    y = graph.vertex_property(vg.int64, fill=1)
    graph.visits = 0
    graph.vertex_apply(gather)
    graph.edge_apply(spread, reverse=True)
    return x, y, graph.visits

"""A vertex was looked for by its number on a member, in a row that stands in the order of the whole graph.

graphs: {"directed": true, "id_bits": 32, "edges": {}, "vertices": {}}
way: {"device": "set", "threads": 2, "schedule": {"closed": {"direction": "pull", "exchange": "base"}}, "seed": 1}
way: {"device": "set", "threads": 3, "seed": 2}
"""

import vgraph as vg


@vg.operator
def closed(graph, src, edge, dst):
    graph.low = min(graph.low, vg.int64(len(dst.out_neighbors & dst.neighbors)))


@vg.operator
def find(v):
    for u in v.in_neighbors:
        if u in v.out_neighbors:
            v.both += 1


@vg.algorithm
def program(graph):
    both = graph.vertex_property(vg.int64)
    graph.low = vg.inf
    graph.edge_apply(closed)
    graph.vertex_apply(find)
    return both, graph.low

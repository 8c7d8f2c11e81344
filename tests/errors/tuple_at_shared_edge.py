import vgraph as vg


@vg.operator
def choose(v):
    for u in v.out_neighbors:
        for e in u.out_edges:
            e.low, e.who = min((e.low, e.who), (v.rank, v))


@vg.algorithm
def main(graph, source):
    low = graph.edge_property(vg.int32)
    who = graph.edge_property(vg.vertex)
    rank = graph.vertex_property(vg.int32)
    graph.vertex_apply(choose)
    return low, who, rank

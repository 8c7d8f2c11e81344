import vgraph as vg


@vg.operator
def own(v):
    for u in v.out_neighbors:
        for e in u.out_edges:
            if e.owner == vg.none:
                e.owner = v


@vg.algorithm
def main(graph, source):
    owner = graph.edge_property(vg.vertex)
    graph.vertex_apply(own)
    return owner

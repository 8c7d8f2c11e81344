import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    dst.component = min(dst.component, src.component)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    component = graph.disjoint_sets()
    graph.edge_apply(relax)
    return dist

import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    src.dist = min(src.dist, dst.dist)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.edge_apply(relax)
    return dist

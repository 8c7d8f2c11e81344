import vgraph as vg


@vg.operator
def relax(src, dst):
    dst.dist = min(dst.dist, src.dist)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32)
    graph.edge_apply(relax)
    return dist

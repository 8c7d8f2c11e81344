import vgraph as vg


@vg.operator
def spread(src, edge, dst):
    dst.dist = min(dst.dist, src.dist)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    back = source > 3
    graph.edge_apply(spread, reverse=back)
    return dist

import vgraph as vg


@vg.operator
def visit(src, edge, dst):
    dst.dist = min(dst.dist, src.seen)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32)
    seen = graph.scratch(vg.int32)
    graph.edge_apply(visit)
    return dist

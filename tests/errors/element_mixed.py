import vgraph as vg


@vg.operator
def visit(src, edge, dst):
    dst.x[0] += 1.0
    dst.x = min(dst.x, src.x)


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.vector(vg.float32, 3))
    y = graph.vertex_property(vg.int32)
    graph.edge_apply(visit)
    return x, y

import vgraph as vg


@vg.operator
def spread(src, edge, dst):
    dst.x, dst.y = min((dst.x, dst.y), (src.x, src.y))


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.float16, fill=1)
    y = graph.vertex_property(vg.int32)
    graph.edge_apply(spread)
    return x, y

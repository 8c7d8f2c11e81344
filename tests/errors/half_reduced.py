import vgraph as vg


@vg.operator
def spread(src, edge, dst):
    dst.x += 0.5 * src.x


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.float16, fill=1)
    graph.edge_apply(spread)
    return x

import vgraph as vg


@vg.operator
def spread(src, edge, dst):
    if dst.x == 0:
        dst.x = src.x


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.float16, fill=1)
    graph.edge_apply(spread)
    return x

import vgraph as vg


@vg.operator
def swap(src, edge, dst):
    old = src.count
    src.count = dst.count
    dst.count = old + 0.5


@vg.algorithm
def main(graph):
    count = graph.vertex_property(vg.int32)
    graph.edge_apply(swap)
    return count

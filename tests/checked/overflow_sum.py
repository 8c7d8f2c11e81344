import vgraph as vg


@vg.operator
def gather(src, edge, dst):
    dst.load += src.given


@vg.algorithm
def main(graph):
    load = graph.vertex_property(vg.int32)
    given = graph.vertex_property(vg.int32, fill=1_500_000_000)
    graph.edge_apply(gather)
    return load

import vgraph as vg


@vg.operator
def gather(src, edge, dst):
    dst.total += src.above.height


@vg.algorithm
def main(graph):
    total = graph.vertex_property(vg.float64)
    above = graph.vertex_property(vg.vertex)
    graph.edge_apply(gather)
    return total


def schedule():
    return vg.Schedule().at("gather", phases=vg.APPLY_SCATTER, payload=vg.RAW)

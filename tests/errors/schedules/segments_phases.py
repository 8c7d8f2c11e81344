import vgraph as vg


@vg.operator
def gather(src, edge, dst):
    dst.total += src.height


@vg.algorithm
def main(graph):
    total = graph.vertex_property(vg.float32)
    for i in range(3):
        graph.edge_apply(gather)
    return total


def schedule():
    return vg.Schedule().at("gather", phases=vg.GATHER_APPLY, segments=2)

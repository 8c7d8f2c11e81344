import vgraph as vg


@vg.operator
def gather(src, edge, dst):
    dst.total += src.both


@vg.algorithm
def main(graph):
    total = graph.vertex_property(vg.int32)
    for i in range(3):
        frontier = graph.edge_apply(gather)
    return total


def schedule():
    return vg.Schedule().at("gather", vectorize=True, direction=vg.PULL)

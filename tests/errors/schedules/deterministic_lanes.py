import vgraph as vg

deterministic = True


@vg.operator
def gather(src, edge, dst):
    dst.rank += src.part


@vg.algorithm
def main(graph):
    rank = graph.vertex_property(vg.float64)
    part = graph.vertex_property(vg.float64, fill=1)
    graph.edge_apply(gather)
    return rank


def schedule():
    return vg.Schedule().at("gather", vectorize=True)

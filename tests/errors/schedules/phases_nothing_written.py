import vgraph as vg


@vg.operator
def weigh(src, edge, dst, graph):
    graph.total += edge.weight


@vg.algorithm
def main(graph):
    graph.total = 0
    graph.edge_apply(weigh)
    total = graph.total
    return total


def schedule():
    return vg.Schedule().at("weigh", phases=vg.APPLY_SCATTER)

import vgraph as vg


@vg.operator
def exchange(src, edge, dst):
    dst.level += src.level
    src.level = edge.weight


@vg.algorithm
def main(graph):
    level = graph.vertex_property(vg.float64)
    graph.edge_apply(exchange)
    return level


def schedule():
    return vg.Schedule().at("exchange", conflict=vg.MARKED)

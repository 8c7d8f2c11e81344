import vgraph as vg

distributed = True


@vg.operator
def add(src, edge, dst):
    dst.total += edge.weight


@vg.algorithm
def main(graph):
    total = graph.vertex_property(vg.int64)
    graph.edge_apply(add)
    return total


def schedule():
    return vg.Schedule().at("add", segments=4)

import vgraph as vg


@vg.operator
def spread(src, edge, dst):
    dst.most = max(dst.most, src.height)


@vg.algorithm
def main(graph):
    most = graph.vertex_property(vg.float64)
    graph.edge_apply(spread)
    return most


def schedule():
    return vg.Schedule().at("spread", phases=vg.GATHER_APPLY, direction=vg.PUSH)

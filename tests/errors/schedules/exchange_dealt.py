import vgraph as vg


@vg.operator
def meet(src, edge, dst):
    mean = (src.x + dst.x) // 2
    src.x = mean
    dst.x = mean


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.int64)
    graph.edge_apply(meet)
    return x


def schedule():
    return vg.Schedule().at("meet", exchange=vg.BASE)


device = "set"

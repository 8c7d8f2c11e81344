import vgraph as vg

device = "cuda"


@vg.operator
def gather(src, edge, dst):
    dst.total += src.height


@vg.operator
def halve(v):
    v.total = v.total / 2


@vg.algorithm
def main(graph):
    total = graph.vertex_property(vg.float64)
    for i in range(3):
        graph.edge_apply(gather)
        graph.vertex_apply(halve)
    return total


def schedule():
    return vg.Schedule().at("halve", rows=vg.DELTA)

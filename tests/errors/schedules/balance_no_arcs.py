import vgraph as vg


@vg.operator
def halve(v):
    v.total = v.total / 2


@vg.algorithm
def main(graph):
    total = graph.vertex_property(vg.float64, fill=1)
    graph.vertex_apply(halve)
    return total


def schedule():
    return vg.Schedule().at("halve", balance=vg.SPLIT(4))

import vgraph as vg


@vg.operator
def average(v):
    total = 0.0
    for u in v.in_neighbors:
        total += u.height
    v.total = total


@vg.algorithm
def main(graph):
    total = graph.vertex_property(vg.float64)
    graph.vertex_apply(average)
    return total


def schedule():
    return vg.Schedule().at("average", rows=vg.SLICES)

import vgraph as vg


@vg.operator
def scatter(v):
    for u in v.out_neighbors:
        u.total += u.height


@vg.algorithm
def main(graph):
    height = graph.vertex_property(vg.int64, fill=2)
    total = graph.vertex_property(vg.int64)
    graph.vertex_apply(scatter)
    return total, height


def schedule():
    return vg.Schedule().at("scatter", vectorize=True)

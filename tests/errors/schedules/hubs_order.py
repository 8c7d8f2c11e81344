import vgraph as vg


@vg.operator
def closest(v):
    for u in v.out_neighbors:
        for w in v.out_neighbors & u.out_neighbors:
            v.last = w.id


@vg.algorithm
def main(graph):
    last = graph.vertex_property(vg.int64)
    graph.vertex_apply(closest)
    return last


def schedule():
    return vg.Schedule().at("closest", hubs=4)

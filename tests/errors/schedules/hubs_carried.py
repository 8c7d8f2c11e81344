import vgraph as vg


@vg.operator
def closest(v):
    found = 0
    for u in v.out_neighbors:
        for w in v.out_neighbors & u.out_neighbors:
            found = found * 2 + 1
    v.last = found


@vg.algorithm
def main(graph):
    last = graph.vertex_property(vg.int64)
    graph.vertex_apply(closest)
    return last


def schedule():
    return vg.Schedule().at("closest", hubs=4)

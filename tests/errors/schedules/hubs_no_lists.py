import vgraph as vg


@vg.operator
def closest(v):
    found = 0
    for u in v.out_neighbors:
        found += u.id
    v.last = found


@vg.algorithm
def main(graph):
    last = graph.vertex_property(vg.int64)
    graph.vertex_apply(closest)
    return last


def schedule():
    return vg.Schedule().at("closest", hubs=4)

import vgraph as vg

device = "cuda"


@vg.operator
def shared(v):
    for u in v.out_neighbors:
        for w in v.out_neighbors & u.out_neighbors:
            v.count += 1


@vg.algorithm
def main(graph):
    count = graph.vertex_property(vg.int64)
    graph.vertex_apply(shared)
    return count


def schedule():
    return vg.Schedule().at("shared", hubs=4, balance=vg.VERTEX)

import vgraph as vg


@vg.operator
def hand_on(v):
    for u in v.out_neighbors:
        u.total += v.paths


@vg.algorithm
def main(graph, source):
    paths = graph.vertex_property(vg.int64)
    total = graph.vertex_property(vg.int64)
    paths[source] = 1
    frontier = graph.frontier(source)
    graph.vertex_apply(hand_on, frontier)
    return paths, total


def schedule():
    return vg.Schedule().at("hand_on", volume=vg.CHANGED)


device = "set"

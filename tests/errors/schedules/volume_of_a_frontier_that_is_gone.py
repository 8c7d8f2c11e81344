import vgraph as vg


@vg.operator
def halve(v):
    v.paths = v.paths // 2
    return v.paths > 0


@vg.algorithm
def main(graph, source):
    paths = graph.vertex_property(vg.int64, fill=8)
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.vertex_filter(halve, frontier)
    return paths


def schedule():
    return vg.Schedule().at("halve", volume=vg.CHANGED)


device = "set"

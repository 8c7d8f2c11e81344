import vgraph as vg


@vg.operator
def count(src, edge, dst):
    dst.paths += src.paths


@vg.algorithm
def main(graph, source):
    paths = graph.vertex_property(vg.int64)
    paths[source] = 1
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(count, frontier)
    return paths


def schedule():
    return vg.Schedule().at("count", volume=vg.CHANGED)

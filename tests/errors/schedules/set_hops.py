import vgraph as vg

device = "cuda set"


@vg.operator
def relax(src, edge, dst):
    dst.dist = min(dst.dist, src.dist + edge.weight)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int64, fill=vg.inf)
    dist[source] = 0
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    return dist


def schedule():
    return vg.Schedule().at("relax", hops=8)

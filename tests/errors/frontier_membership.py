import vgraph as vg


@vg.algorithm
def main(graph, source: vg.vertex):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    frontier = graph.frontier(source)
    if source in frontier:
        dist[source] = 0
    return dist

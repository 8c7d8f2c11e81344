import vgraph as vg


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    rank = graph.vertex_property(vg.float64)
    while dist[source] > 0:
        return rank
    return dist

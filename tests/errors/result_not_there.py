import vgraph as vg


@vg.algorithm
def main(graph, source):
    if graph.num_vertices < 2:
        return dist
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    dist[source] = 0
    return dist

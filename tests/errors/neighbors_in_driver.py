import vgraph as vg


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    for u in source.out_neighbors:
        dist[u] = 1
    return dist

import vgraph as vg


@vg.algorithm
def main(graph, source: vg.vertex):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.both = len(source.out_neighbors & source.in_neighbors)
    return dist, graph.both

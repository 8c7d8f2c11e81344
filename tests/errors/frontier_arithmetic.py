import vgraph as vg


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    a = graph.frontier(source)
    b = a + graph.frontier(source)
    return dist

import vgraph as vg


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    x = 3
    x = graph.frontier(source)
    return dist

import vgraph as vg


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    f = graph.frontier(source)
    dist = dist * f
    return dist

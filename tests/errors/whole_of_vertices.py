import vgraph as vg


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    parent = graph.vertex_property(vg.vertex)
    parent[:] = dist + 1
    return dist

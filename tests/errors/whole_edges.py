import vgraph as vg


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    e = graph.edge_property(vg.int32)
    dist = dist + e
    return dist

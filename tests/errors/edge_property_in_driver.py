import vgraph as vg


@vg.algorithm
def main(graph, source):
    x = graph.edge_property(vg.int32)
    x[source] = 3
    return x

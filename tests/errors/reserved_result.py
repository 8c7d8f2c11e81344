import vgraph as vg


@vg.algorithm
def main(graph, source):
    trace = graph.vertex_property(vg.int32)
    trace[source] = 0
    return trace

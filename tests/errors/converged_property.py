import vgraph as vg


@vg.algorithm
def main(graph, source):
    converged = graph.vertex_property(vg.bool_)
    converged[source] = True
    return converged

import vgraph as vg


@vg.algorithm
def main(graph):
    seen = graph.vertex_property(vg.bool_, fill=vg.inf)
    return seen

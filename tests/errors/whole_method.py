import vgraph as vg


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.float64)
    total = x.sum()
    return total

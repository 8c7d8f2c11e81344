import vgraph as vg


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.float64)
    x = 1 / graph.out_degree
    return x

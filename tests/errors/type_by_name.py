import vgraph as vg


@vg.algorithm
def main(graph):
    rank = graph.vertex_property("float64")
    return rank

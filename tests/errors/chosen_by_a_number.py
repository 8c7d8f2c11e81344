import vgraph as vg


@vg.algorithm
def main(graph):
    high = graph.frontier(v for v in graph.vertices if v.height)
    return high

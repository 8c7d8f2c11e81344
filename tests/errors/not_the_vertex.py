import vgraph as vg


@vg.algorithm
def main(graph):
    high = graph.frontier(v.height > 0 for v in graph.vertices)
    return high

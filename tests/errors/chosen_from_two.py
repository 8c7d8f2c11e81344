import vgraph as vg


@vg.algorithm
def main(graph):
    high = graph.frontier(v for v in graph.vertices for u in v.out_neighbors)
    return high

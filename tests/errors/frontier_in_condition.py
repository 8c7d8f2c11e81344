import vgraph as vg


@vg.algorithm
def main(graph, source):
    low = graph.frontier(source)
    high = graph.frontier(v for v in graph.vertices if v.height > len(low))
    return high

import vgraph as vg


@vg.algorithm
def main(graph):
    frontier = graph.frontier(graph.weight)
    return frontier

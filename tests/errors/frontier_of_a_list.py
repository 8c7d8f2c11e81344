import vgraph as vg


@vg.algorithm
def main(graph, source):
    start = graph.frontier([0, 1])
    return start

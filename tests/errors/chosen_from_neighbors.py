import vgraph as vg


@vg.algorithm
def main(graph, source: vg.vertex):
    near = graph.frontier(u for u in source.out_neighbors if u.height > 0)
    return near

import vgraph as vg


@vg.algorithm
def main(graph):
    level = graph.vertex_property(vg.int32, fill=vg.inf)
    frontier = graph.frontier(level)
    return level, frontier

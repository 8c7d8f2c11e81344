import vgraph as vg


@vg.algorithm
def main(graph, seeds=(0.0, 1.5)):
    level = graph.vertex_property(vg.int32, fill=vg.inf)
    frontier = graph.frontier(seeds)
    return level

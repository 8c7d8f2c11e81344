import vgraph as vg
from vgraph.algorithms import bfs


@vg.function
def near(graph, v):
    level = bfs(graph, v, max_depth=2).level
    return graph.count(level >= 0)


@vg.algorithm
def main(graph, source: vg.vertex):
    reached = near(graph, source)
    return reached

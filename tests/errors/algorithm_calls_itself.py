import vgraph as vg
from vgraph.algorithms import bfs


@vg.algorithm
def main(graph, source: vg.vertex):
    level = bfs(graph, source).level
    level = main(graph, source).level
    return level

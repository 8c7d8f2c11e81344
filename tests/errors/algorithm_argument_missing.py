import vgraph as vg
from vgraph.algorithms import bfs


@vg.algorithm
def main(graph):
    level = bfs(graph, max_depth=3).level
    return level

import vgraph as vg
from vgraph.algorithms import bfs


@vg.algorithm
def main(graph, source):
    level, parent = bfs(graph, source)
    return level

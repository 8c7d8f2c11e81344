import vgraph as vg
from vgraph.algorithms import bfs


@vg.algorithm
def main(graph, source):
    level, _ = bfs(graph, source)
    return level

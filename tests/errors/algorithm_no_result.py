import vgraph as vg
from vgraph.algorithms import bfs


@vg.algorithm
def main(graph, source):
    found = bfs(graph, source)
    levels = found.levels
    return levels

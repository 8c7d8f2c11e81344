import vgraph as vg
from vgraph.algorithms import bfs


@vg.algorithm
def main(graph, source):
    found = bfs(graph, source)
    found.level[0] = 7
    return found.level

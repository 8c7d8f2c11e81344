import vgraph as vg
from vgraph.algorithms import bfs


@vg.algorithm
def main(graph, source):
    found = bfs(graph, source)
    found = bfs(graph, 0)
    return found.level

import vgraph as vg
from vgraph.algorithms import bfs


@vg.algorithm
def main(graph, source):
    level = bfs(graph, graph.num_vertices / 2).level
    return level

import vgraph as vg
from vgraph.algorithms import bfs


@vg.algorithm
def near(graph, source: vg.vertex, hops=2):
    level = bfs(graph, source, max_depth=hops).level
    return level


@vg.algorithm
def main(graph, source: vg.vertex):
    hops = graph.num_vertices // 2
    level = near(graph, source, hops=hops).level
    return level

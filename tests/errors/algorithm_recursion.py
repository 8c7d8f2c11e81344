import vgraph as vg
from vgraph.algorithms import bfs


@vg.algorithm
def other(graph, source: vg.vertex):
    level = bfs(graph, source).level
    most = main(graph, level[0]).most
    return most


@vg.algorithm
def main(graph, source: vg.vertex):
    most = other(graph, source).most
    return most

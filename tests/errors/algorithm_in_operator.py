import vgraph as vg
from vgraph.algorithms import bfs


@vg.operator
def visit(v, graph):
    v.dist = bfs(graph, v).level


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32)
    graph.vertex_apply(visit)
    return dist

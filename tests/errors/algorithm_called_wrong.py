import vgraph as vg
from vgraph.algorithms import bfs


@vg.operator
def visit(v):
    v.rank = v.levels + 1


@vg.algorithm
def wrong(graph):
    rank = graph.vertex_property(vg.int32)
    graph.vertex_apply(visit)
    return rank


@vg.algorithm
def main(graph, source):
    level = bfs(graph, source).level
    rank = wrong(graph).rank
    return level, rank

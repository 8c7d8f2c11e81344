import vgraph as vg
from vgraph.algorithms import bfs


@vg.algorithm
def scaled(graph, scores: vg.vertex_property(vg.float32)):
    best = graph.vertex_property(vg.float32)
    best[0] = scores[0]
    return best


@vg.algorithm
def main(graph, source):
    level = bfs(graph, source).level
    best = scaled(graph, level).best
    return best

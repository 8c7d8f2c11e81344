import vgraph as vg


@vg.operator
def jump(v):
    v.rank += preference


@vg.algorithm
def main(graph, preference: vg.vertex_property(vg.float64) = (1.0, 2.0)):
    rank = graph.vertex_property(vg.float64, fill=1)
    graph.vertex_apply(jump)
    return rank

import vgraph as vg


@vg.operator
def decay(v):
    v.rank = damping * v.rank


@vg.algorithm
def main(graph, dampening=0.85):
    rank = graph.vertex_property(vg.float64, fill=1)
    graph.vertex_apply(decay)
    return rank

import vgraph as vg


@vg.operator
def visit(v):
    v.x = vg.random_below(6, v, seed=3)


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.float64)
    graph.vertex_apply(visit)
    return x

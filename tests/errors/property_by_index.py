import vgraph as vg


@vg.operator
def visit(v):
    v.x += y[v.id - 1]


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.float64)
    y = graph.vertex_property(vg.float64)
    graph.vertex_apply(visit)
    return x, y

import vgraph as vg


@vg.operator
def visit(v):
    v.total = vg.sum(v.wide)


@vg.algorithm
def main(graph):
    total = graph.vertex_property(vg.float64)
    graph.vertex_apply(visit)
    return total

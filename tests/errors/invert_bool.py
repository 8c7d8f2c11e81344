import vgraph as vg


@vg.operator
def visit(v):
    v.far = ~(v.id > 2)


@vg.algorithm
def main(graph, source):
    far = graph.vertex_property(vg.bool_)
    graph.vertex_apply(visit)
    return far

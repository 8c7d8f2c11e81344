import vgraph as vg


@vg.function
def half(x, by=2):
    return x // by


@vg.operator
def visit(v):
    v.dist = half(v.dist)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32)
    graph.vertex_apply(visit)
    return dist

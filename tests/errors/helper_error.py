import vgraph as vg


@vg.function
def half(x):
    y = x | 1
    return y


@vg.operator
def visit(v):
    v.dist = half(v.height)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.vertex_apply(visit)
    return dist

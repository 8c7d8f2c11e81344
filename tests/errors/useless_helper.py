import vgraph as vg


@vg.function
def half(x):
    return x // 2


@vg.operator
def visit(v):
    half(v.dist)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.vertex_apply(visit)
    return dist

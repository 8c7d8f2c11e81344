import vgraph as vg


@vg.function
def half(x):
    if x > 3:
        return x // 2


@vg.operator
def visit(v):
    v.dist = half(v.dist)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.vertex_apply(visit)
    return dist

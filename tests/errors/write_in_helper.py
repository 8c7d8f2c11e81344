import vgraph as vg


@vg.function
def reset(v):
    v.dist = 0
    return 1


@vg.operator
def visit(v):
    v.dist = reset(v)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.vertex_apply(visit)
    return dist

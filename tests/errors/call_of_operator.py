import vgraph as vg


@vg.operator
def other(v):
    v.dist = 0


@vg.operator
def visit(v):
    other(v)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.vertex_apply(visit)
    return dist

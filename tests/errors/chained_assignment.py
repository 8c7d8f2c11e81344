import vgraph as vg


@vg.operator
def visit(v):
    a = b = v.dist + 1
    v.dist = a + b


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.vertex_apply(visit)
    return dist

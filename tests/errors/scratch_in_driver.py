import vgraph as vg


@vg.operator
def visit(v):
    v.dist = 1


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32)
    seen = graph.scratch(vg.int32)
    seen[source] = 1
    graph.vertex_apply(visit)
    return dist

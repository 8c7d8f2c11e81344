import vgraph as vg


@vg.operator
def visit(v):
    v.small = -1


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    small = graph.vertex_property(vg.uint32)
    graph.vertex_apply(visit)
    return dist

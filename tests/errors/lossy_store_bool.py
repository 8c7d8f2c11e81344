import vgraph as vg


@vg.operator
def visit(v):
    v.seen = v.dist


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    seen = graph.vertex_property(vg.bool_)
    graph.vertex_apply(visit)
    return dist

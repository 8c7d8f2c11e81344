import vgraph as vg


@vg.operator
def visit(v):
    v.dist = int(v.big + v.long)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    big = graph.vertex_property(vg.uint64)
    long = graph.vertex_property(vg.int64)
    graph.vertex_apply(visit)
    return dist

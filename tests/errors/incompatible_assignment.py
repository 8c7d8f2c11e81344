import vgraph as vg


@vg.operator
def visit(v):
    x = v.big
    if v.dist > 3:
        x = v.long
    v.dist = int(x)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    big = graph.vertex_property(vg.uint64)
    long = graph.vertex_property(vg.int64)
    graph.vertex_apply(visit)
    return dist

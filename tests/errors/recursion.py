import vgraph as vg


@vg.function
def fall(x):
    return 0 if x == 0 else fall(x - 1)


@vg.operator
def visit(v):
    v.dist = fall(v.dist)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.vertex_apply(visit)
    return dist

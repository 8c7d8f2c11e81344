import vgraph as vg


@vg.operator
def visit(v):
    low, high = 0, v.dist
    v.dist = high - low


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.vertex_apply(visit)
    return dist

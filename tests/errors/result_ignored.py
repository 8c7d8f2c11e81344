import vgraph as vg


@vg.operator
def far(v):
    return v.dist > 3


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.vertex_apply(far)
    return dist

import vgraph as vg


@vg.operator
def visit(v):
    v.dist = v.__class__


@vg.algorithm
def main(graph):
    dist = graph.vertex_property(vg.int32)
    graph.vertex_apply(visit)
    return dist

import vgraph as vg


@vg.operator
def visit(v):
    v.x = vg.float16(v.out_degree)


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.float16)
    graph.vertex_apply(visit)
    return x

import vgraph as vg


@vg.operator
def visit(v):
    near = vg.local(vg.float16, 8)
    v.x = near[0]


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.float16)
    graph.vertex_apply(visit)
    return x

import vgraph as vg


@vg.operator
def visit(v):
    v.x = v.seen


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.float16)
    seen = graph.scratch(vg.float16)
    graph.vertex_apply(visit)
    return x

import vgraph as vg


@vg.operator
def visit(v):
    stack = vg.local(vg.int32, 8)
    stack.append(v.id)


@vg.algorithm
def main(graph):
    found = graph.vertex_property(vg.int32)
    graph.vertex_apply(visit)
    return found

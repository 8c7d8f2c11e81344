import vgraph as vg


@vg.operator
def visit(v):
    v.seen = 1


@vg.algorithm
def main(graph, source):
    seen = graph.scratch(vg.int32)
    graph.vertex_apply(visit)
    return seen

import vgraph as vg


@vg.operator
def visit(v):
    if v.kind in (1, 2):
        v.chosen = True


@vg.algorithm
def main(graph, source: vg.vertex):
    kind = graph.vertex_property(vg.int32)
    chosen = graph.vertex_property(vg.bool_)
    graph.vertex_apply(visit)
    return chosen

import vgraph as vg


@vg.operator
def visit(v):
    v.seen = len(vg.local_list(vg.vertex, 8)) > 0


@vg.algorithm
def main(graph):
    seen = graph.vertex_property(vg.bool_)
    graph.vertex_apply(visit)
    return seen

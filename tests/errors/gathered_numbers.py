import vgraph as vg


@vg.operator
def visit(v):
    near = vg.local_list(vg.int64, 8)
    v.seen = len(near) > 0


@vg.algorithm
def main(graph):
    seen = graph.vertex_property(vg.bool_)
    graph.vertex_apply(visit)
    return seen

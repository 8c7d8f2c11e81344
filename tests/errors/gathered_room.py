import vgraph as vg


@vg.operator
def visit(v):
    near = vg.local_list(vg.vertex, 0)
    near.append(v)
    v.seen = True


@vg.algorithm
def main(graph):
    seen = graph.vertex_property(vg.bool_)
    graph.vertex_apply(visit)
    return seen

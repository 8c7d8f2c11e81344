import vgraph as vg


@vg.operator
def visit(v):
    for u in set(v.out_neighbors):
        v.x += u.x


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.float64)
    graph.vertex_apply(visit)
    return x

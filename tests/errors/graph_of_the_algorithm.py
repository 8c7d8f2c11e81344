import vgraph as vg


@vg.operator
def visit(v):
    v.x = v.out_degree / graph.num_vertices


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.float64)
    graph.vertex_apply(visit)
    return x

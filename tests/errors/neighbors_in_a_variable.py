import vgraph as vg


@vg.operator
def visit(v, graph):
    both = v.out_neighbors & v.in_neighbors
    v.dist = len(both)


@vg.algorithm
def main(graph, source: vg.vertex):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.vertex_apply(visit)
    return dist

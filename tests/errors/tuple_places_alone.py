import vgraph as vg


@vg.operator
def visit(v):
    for u in v.out_neighbors:
        v.dist, u.parent = min((v.dist, u.parent), (u.dist, v))


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.float64, fill=vg.inf)
    parent = graph.vertex_property(vg.vertex)
    graph.vertex_apply(visit)
    return dist, parent

import vgraph as vg


@vg.operator
def visit(v):
    for e in v.out_edges:
        v.dist = e.both + v.both


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32)
    graph.vertex_apply(visit)
    return dist

import vgraph as vg


@vg.operator
def visit(v):
    for e in v.out_edges:
        e = 3


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.vertex_apply(visit)
    return dist

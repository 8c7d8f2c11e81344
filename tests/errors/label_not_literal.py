import vgraph as vg


@vg.operator
def visit(v):
    v.dist = 0


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    name = 3
    graph.vertex_apply(visit, label=name)
    return dist

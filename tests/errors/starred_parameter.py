import vgraph as vg


@vg.operator
def visit(*vertices):
    pass


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32)
    graph.vertex_apply(visit)
    return dist

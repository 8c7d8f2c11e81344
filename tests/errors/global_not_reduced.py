import vgraph as vg


@vg.operator
def visit(v, graph):
    graph.largest = v.dist


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.largest = 0
    graph.vertex_apply(visit)
    return dist

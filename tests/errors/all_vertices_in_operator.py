import vgraph as vg


@vg.operator
def visit(v, graph):
    for u in graph.vertices:
        v.dist += u.dist


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.vertex_apply(visit)
    return dist

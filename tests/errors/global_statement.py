import vgraph as vg


counter = 0


@vg.operator
def visit(v):
    global counter
    counter = 1


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.vertex_apply(visit)
    return dist

import vgraph as vg


def make():
    limit = 3

    @vg.operator
    def visit(v):
        nonlocal limit
        limit = 4
        v.dist = limit

    return visit


visit = make()


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32)
    graph.vertex_apply(visit)
    return dist

import vgraph as vg


@vg.operator
def visit(src, edge, dst):
    if dst.mark == -1:
        dst.mark = 1
        dst.visits += edge.weight


@vg.algorithm
def main(graph):
    mark = graph.vertex_property(vg.int32, fill=-1)
    visits = graph.vertex_property(vg.int64)
    graph.edge_apply(visit)
    return mark, visits


def schedule():
    return vg.Schedule().at("visit", phases=vg.GATHER_APPLY, payload=vg.COMPUTED)

import vgraph as vg


@vg.operator
async def visit(v):
    v.dist = 0


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32)
    graph.vertex_apply(visit)
    return dist

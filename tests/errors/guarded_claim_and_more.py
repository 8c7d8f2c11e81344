import vgraph as vg


@vg.operator
def visit(src, edge, dst):
    if dst.dist == -1:
        dst.dist = src.dist + 1
        return
    dst.tries += 1


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=-1)
    tries = graph.vertex_property(vg.int32)
    graph.edge_apply(visit)
    return dist, tries

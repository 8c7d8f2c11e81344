import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    if src.dist < dst.dist:
        dst.dist = src.dist + 1


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.edge_apply(relax)
    return dist

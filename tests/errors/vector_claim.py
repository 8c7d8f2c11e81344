import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    if dst.x == 0:
        dst.x = src.x


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    x = graph.vertex_property(vg.vector(vg.float32, 3))
    graph.edge_apply(relax)
    return dist

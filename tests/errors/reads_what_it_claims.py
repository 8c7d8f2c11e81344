import vgraph as vg


@vg.operator
def relax(src, edge, dst, graph):
    if dst.level == -1:
        dst.level = graph.depth
    if dst.level == graph.depth:
        dst.dist += src.dist


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    level = graph.vertex_property(vg.int32, fill=-1)
    graph.depth = 0
    graph.edge_apply(relax)
    return dist

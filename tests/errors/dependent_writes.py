import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    if src.dist + edge.weight < dst.dist:
        dst.dist = src.dist + edge.weight
        dst.parent = src


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    parent = graph.vertex_property(vg.vertex)
    graph.edge_apply(relax)
    return dist

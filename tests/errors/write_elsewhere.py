import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    src.parent.dist += 1


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    parent = graph.vertex_property(vg.vertex)
    graph.edge_apply(relax)
    return dist

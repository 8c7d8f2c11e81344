import vgraph as vg


@vg.operator
def share(src, edge, dst):
    dst.part, dst.giver = max((dst.part, dst.giver), (src.rank / src.rank, src))


@vg.algorithm
def main(graph):
    part = graph.vertex_property(vg.float64)
    giver = graph.vertex_property(vg.vertex)
    rank = graph.vertex_property(vg.float64)
    graph.edge_apply(share)
    return part, giver

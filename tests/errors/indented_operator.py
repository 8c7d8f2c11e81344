import vgraph as vg


class Programs:
    @vg.operator
    def relax(src, edge, dst):
        dst.dist = src.dist


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32)
    graph.edge_apply(Programs.relax)
    return dist

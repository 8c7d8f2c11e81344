import vgraph as vg


@vg.operator
def smooth(src, edge, dst):
    for u in dst.out_neighbors:
        src.heat += u.heat
    dst.heat = 0.0


@vg.algorithm
def main(graph):
    heat = graph.vertex_property(vg.float64)
    graph.edge_apply(smooth)
    return heat

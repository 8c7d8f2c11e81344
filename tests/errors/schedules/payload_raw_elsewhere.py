import vgraph as vg


@vg.operator
def climb(src, edge, dst):
    dst.height_sum += src.up.height


@vg.algorithm
def main(graph):
    up = graph.vertex_property(vg.vertex, fill=0)
    height_sum = graph.vertex_property(vg.float64)
    graph.edge_apply(climb)
    return up, height_sum


def schedule():
    return vg.Schedule().at("climb", phases=vg.GATHER_APPLY, payload=vg.RAW)

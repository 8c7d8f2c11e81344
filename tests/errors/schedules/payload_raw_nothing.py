import vgraph as vg


@vg.operator
def count(src, edge, dst):
    dst.degree_sum += 1


@vg.algorithm
def main(graph):
    degree_sum = graph.vertex_property(vg.int32)
    graph.edge_apply(count)
    return degree_sum


def schedule():
    return vg.Schedule().at("count", phases=vg.APPLY_SCATTER, payload=vg.RAW)

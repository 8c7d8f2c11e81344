import vgraph as vg


@vg.operator
def gather(src, edge, dst):
    dst.total += src.value * edge.weight


@vg.algorithm
def main(graph):
    value = graph.vertex_property(vg.int32, fill=1)
    total = graph.vertex_property(vg.int32, fill=0)
    graph.edge_apply(gather)
    return value, total


def schedule() -> vg.Schedule:
    return vg.Schedule().at("gather", parts=8)

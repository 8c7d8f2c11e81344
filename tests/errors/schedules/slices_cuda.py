import vgraph as vg

device = "cuda"


@vg.operator
def gather(src, edge, dst):
    dst.total += src.value * dst.share


@vg.algorithm
def main(graph):
    value = graph.vertex_property(vg.int32, fill=1)
    share = graph.vertex_property(vg.int32, fill=1)
    total = graph.vertex_property(vg.int32, fill=0)
    graph.edge_apply(gather)
    return value, share, total


def schedule() -> vg.Schedule:
    return vg.Schedule().at("gather", rows=vg.SLICES)

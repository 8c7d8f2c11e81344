import vgraph as vg

device = "cuda"


@vg.operator
def gather(src, edge, dst):
    if src.known:
        dst.total += src.value


@vg.algorithm
def main(graph):
    value = graph.vertex_property(vg.int32, fill=1)
    known = graph.vertex_property(vg.bool_, fill=True)
    total = graph.vertex_property(vg.int32, fill=0)
    graph.edge_apply(gather)
    return value, known, total


def schedule() -> vg.Schedule:
    return vg.Schedule().at("gather", direction=vg.PULL, segments=2)

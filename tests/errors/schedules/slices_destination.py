import vgraph as vg

device = "cuda"


@vg.operator
def gather(src, edge, dst):
    if dst == src.mate:
        dst.total += 1


@vg.algorithm
def main(graph):
    mate = graph.vertex_property(vg.vertex)
    total = graph.vertex_property(vg.int32, fill=0)
    graph.edge_apply(gather)
    return mate, total


def schedule() -> vg.Schedule:
    return vg.Schedule().at("gather", rows=vg.SLICES)

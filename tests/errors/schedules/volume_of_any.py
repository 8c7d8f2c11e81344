import vgraph as vg


@vg.operator
def count(src, edge, dst):
    dst.paths += src.paths


@vg.algorithm
def main(graph):
    paths = graph.vertex_property(vg.int64, fill=1)
    graph.edge_apply(count)
    return paths


def schedule():
    return vg.Schedule().at("count", volume=vg.CHANGED)


device = "set"

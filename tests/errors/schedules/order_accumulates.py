import vgraph as vg


@vg.operator
def spread(src, edge, dst):
    dst.walks += src.walks


@vg.algorithm
def main(graph, source):
    walks = graph.vertex_property(vg.int64)
    walks[source] = 1
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(spread, frontier)
    return walks


def schedule():
    return vg.Schedule().at("spread", order=vg.delta_stepping(4))

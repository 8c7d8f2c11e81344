import vgraph as vg


@vg.operator
def relax(src, edge, dst):
    dst.dist = min(dst.dist, src.dist + edge.weight)
    dst.hops = min(dst.hops, src.hops + 1)


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int64, fill=vg.inf)
    hops = graph.vertex_property(vg.int64, fill=vg.inf)
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    return dist, hops


def schedule():
    return vg.Schedule().at("relax", order=vg.delta_stepping(4))

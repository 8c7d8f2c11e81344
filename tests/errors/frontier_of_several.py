import vgraph as vg


@vg.operator
def visit(src, edge, dst):
    dst.level = min(dst.level, src.level + 1)


@vg.algorithm
def main(graph, sources=(0, 1)):
    level = graph.vertex_property(vg.int32, fill=vg.inf)
    for source in sources:
        level[source] = 0
    frontier = graph.frontier(sources)
    while frontier:
        frontier = graph.edge_apply(visit, frontier)
    return level

import vgraph as vg


@vg.operator
def visit(src, edge, dst, graph):
    if dst.level == -1:
        dst.level = graph.depth
        dst.parent = src


@vg.algorithm
def main(graph, source):
    level = graph.vertex_property(vg.int32, fill=-1)
    parent = graph.vertex_property(vg.vertex)
    graph.depth = 0
    frontier = graph.frontier(source)
    while frontier:
        graph.depth += 1
        frontier = graph.edge_apply(visit, frontier)
    return level, parent


def schedule():
    return vg.Schedule().at("visit", order=vg.delta_stepping())

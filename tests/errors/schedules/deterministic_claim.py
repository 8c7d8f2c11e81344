import vgraph as vg

deterministic = True


@vg.operator
def visit(src, edge, dst):
    if dst.parent == vg.none:
        dst.parent = src


@vg.algorithm
def main(graph, source: vg.vertex):
    parent = graph.vertex_property(vg.vertex, fill=vg.none)
    parent[source] = source
    frontier = graph.frontier(source)
    while frontier:
        frontier = graph.edge_apply(visit, frontier)
    return parent


def schedule():
    return vg.Schedule().at("visit", direction=vg.PUSH)

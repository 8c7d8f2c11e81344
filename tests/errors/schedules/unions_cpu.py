import vgraph as vg


@vg.operator
def link(src, edge, dst):
    vg.union(src.component, dst.component)


@vg.algorithm
def main(graph):
    component = graph.disjoint_sets()
    graph.edge_apply(link)
    return component


def schedule():
    return vg.Schedule().at("link", unions=64)

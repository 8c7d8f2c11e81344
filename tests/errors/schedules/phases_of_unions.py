import vgraph as vg


@vg.operator
def unite(src, edge, dst):
    vg.union(src.component, dst.component)


@vg.algorithm
def main(graph):
    component = graph.disjoint_sets()
    graph.edge_apply(unite)
    return component


def schedule():
    return vg.Schedule().at("unite", phases=vg.APPLY_SCATTER)

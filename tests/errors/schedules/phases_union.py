import vgraph as vg


@vg.operator
def join(src, edge, dst):
    vg.union(src.component, dst.component)


@vg.algorithm
def main(graph):
    component = graph.disjoint_sets()
    graph.edge_apply(join)
    return component


def schedule():
    return vg.Schedule().at("join", phases=vg.GATHER_APPLY)

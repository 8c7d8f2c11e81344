import vgraph as vg


@vg.operator
def hook(src, edge, dst):
    src.seen = True
    dst.seen = True
    vg.union(src.component, dst.component)


@vg.algorithm
def main(graph):
    component = graph.disjoint_sets()
    seen = graph.vertex_property(vg.bool_)
    graph.edge_apply(hook)
    return component, seen

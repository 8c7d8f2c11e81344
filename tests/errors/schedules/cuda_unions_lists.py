import vgraph as vg

device = "cuda"


@vg.operator
def link(v):
    for u in v.out_neighbors:
        for w in u.out_neighbors & v.out_neighbors:
            vg.union(v.component, w.component)


@vg.algorithm
def main(graph):
    component = graph.disjoint_sets()
    graph.vertex_apply(link)
    return component


def schedule():
    return vg.Schedule().at("link", unions=64)

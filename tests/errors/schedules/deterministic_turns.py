import vgraph as vg

deterministic = True


@vg.operator
def give(v):
    for u in v.out_neighbors:
        u.got += v.height


@vg.algorithm
def main(graph, source: vg.vertex):
    got = graph.vertex_property(vg.float64)
    graph.vertex_apply(give, graph.frontier(source))
    return got


def schedule():
    return vg.Schedule().at("give", drive=vg.DATA)

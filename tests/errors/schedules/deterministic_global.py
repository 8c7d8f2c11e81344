import vgraph as vg

deterministic = True


@vg.operator
def measure(v, graph):
    for e in v.out_edges:
        graph.whole += e.length


@vg.algorithm
def main(graph):
    graph.whole = 0.0
    graph.vertex_apply(measure)
    return graph.whole


def schedule():
    return vg.Schedule().at("measure", balance=vg.SPLIT(64))

import vgraph as vg

deterministic = True


@vg.operator
def measure(v):
    whole = 0.0
    for e in v.out_edges:
        whole += e.length
    v.whole = whole


@vg.algorithm
def main(graph):
    whole = graph.vertex_property(vg.float64)
    graph.vertex_apply(measure)
    return whole


def schedule():
    return vg.Schedule().at("measure", vectorize=True)

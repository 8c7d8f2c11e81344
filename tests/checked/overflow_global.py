import vgraph as vg


@vg.operator
def measure(v, graph):
    graph.whole += v.given


@vg.algorithm
def main(graph):
    given = graph.vertex_property(vg.int64, fill=2**62)
    graph.whole = 0
    graph.vertex_apply(measure)
    return graph.whole

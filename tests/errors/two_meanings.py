import vgraph as vg


def scaled_by(factor):
    @vg.operator
    def scale(v):
        v.rank = factor * v.rank

    return scale


double = scaled_by(2)


@vg.algorithm
def main(graph, factor=0.85):
    rank = graph.vertex_property(vg.float64, fill=factor)
    graph.vertex_apply(double)
    return rank

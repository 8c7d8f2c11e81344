import vgraph as vg


@vg.operator
def share(v):
    part = v.rank / vg.float64(v.in_degree)
    v.rank = 0.5 + part


@vg.algorithm
def main(graph):
    rank = graph.vertex_property(vg.float64)
    graph.vertex_apply(share)
    return rank

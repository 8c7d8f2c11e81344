import vgraph as vg


@vg.operator
def gather(src, edge, dst):
    dst.sum += src.given


@vg.operator
def begin(v):
    v.given = vg.inf if v.id % 2 == 0 else -vg.inf


@vg.algorithm
def main(graph):
    sum = graph.vertex_property(vg.float64)
    given = graph.vertex_property(vg.float64)
    graph.vertex_apply(begin)
    graph.edge_apply(gather)
    return sum

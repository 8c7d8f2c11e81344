import vgraph as vg


@vg.operator
def weigh(v):
    v.size = table[v.share]


@vg.algorithm
def main(graph, table: vg.array(vg.int64) = (1, 2)):
    share = graph.vertex_property(vg.float64)
    size = graph.vertex_property(vg.int64)
    graph.vertex_apply(weigh)
    return size

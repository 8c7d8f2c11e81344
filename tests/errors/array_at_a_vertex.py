import vgraph as vg


@vg.operator
def weigh(v):
    v.size = v.table


@vg.algorithm
def main(graph, table: vg.array(vg.int64) = (1, 2)):
    size = graph.vertex_property(vg.int64)
    graph.vertex_apply(weigh)
    return size

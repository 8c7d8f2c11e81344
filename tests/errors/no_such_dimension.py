import vgraph as vg


@vg.operator
def count(v):
    v.size = table.shape[1]


@vg.algorithm
def main(graph, table: vg.array(vg.int64) = (1, 2)):
    size = graph.vertex_property(vg.int64)
    graph.vertex_apply(count)
    return size

import vgraph as vg


@vg.operator
def note(v):
    table[v.id] = 1


@vg.algorithm
def main(graph, table: vg.array(vg.int64) = (1, 2)):
    size = graph.vertex_property(vg.int64)
    graph.vertex_apply(note)
    return size

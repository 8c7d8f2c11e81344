import vgraph as vg


@vg.operator
def second(v):
    v.found = v.out_neighbors[1].id


@vg.algorithm
def main(graph):
    found = graph.vertex_property(vg.int64)
    graph.vertex_apply(second)
    return found

import vgraph as vg


@vg.operator
def grow(v):
    for u in v.out_neighbors:
        v.size *= 100_000


@vg.algorithm
def main(graph):
    size = graph.vertex_property(vg.int32, fill=1)
    graph.vertex_apply(grow)
    return size

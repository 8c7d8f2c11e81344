import vgraph as vg


@vg.operator
def collect(v):
    seen = vg.local(vg.vertex, 2)
    top = 0
    for u in v.out_neighbors:
        seen[top] = u
        top += 1
    v.last = seen[top - 1]


@vg.algorithm
def main(graph):
    last = graph.vertex_property(vg.vertex)
    graph.vertex_apply(collect)
    return last

import vgraph as vg


@vg.operator
def throw(v):
    v.side = vg.random_choice(v, 1)


@vg.algorithm
def main(graph):
    side = graph.vertex_property(vg.int64)
    graph.vertex_apply(throw)
    return side

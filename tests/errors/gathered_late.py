import vgraph as vg


@vg.operator
def spread(v):
    near = vg.local_list(vg.vertex, 8)
    for u in v.neighbors:
        near.append(u)
        for w in near:
            w.seen = True


@vg.algorithm
def main(graph):
    seen = graph.vertex_property(vg.bool_)
    graph.vertex_apply(spread)
    return seen

import vgraph as vg


@vg.operator
def far(v):
    near = vg.local_list(vg.vertex, 8)
    near.append(v.chief)
    for u in near:
        for w in u.neighbors:
            w.seen = True


@vg.algorithm
def main(graph):
    chief = graph.vertex_property(vg.vertex)
    seen = graph.vertex_property(vg.bool_)
    graph.vertex_apply(far)
    return seen, chief

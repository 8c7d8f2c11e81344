import vgraph as vg

deterministic = True


@vg.operator
def visit(v):
    near = vg.local_list(vg.vertex, 8)
    for u in v.neighbors:
        near.append(u)
    for u in near:
        u.seen = True


@vg.algorithm
def main(graph):
    seen = graph.vertex_property(vg.bool_)
    graph.vertex_apply(visit)
    return seen


def schedule():
    return vg.Schedule().at("visit", conflict=vg.RACED)

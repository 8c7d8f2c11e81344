import vgraph as vg

deterministic = True


@vg.operator
def weigh(v):
    near = vg.local_list(vg.vertex, 64)
    for u in v.neighbors:
        near.append(u)
    for u in near:
        u.x += 1
        for edge in u.out_edges:
            edge.load += 0.1 * v.id


@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.int64)
    load = graph.edge_property(vg.float64)
    graph.vertex_apply(weigh)
    return x, load


def schedule():
    return vg.Schedule().at("weigh", conflict=vg.MARKED)

import vgraph as vg


@vg.operator
def count(v, graph):
    near = vg.local_list(vg.vertex, 8)
    for u in v.neighbors:
        if u not in near:
            near.append(u)
    graph.distinct += len(near)


@vg.algorithm
def main(graph):
    graph.distinct = 0
    graph.vertex_apply(count)
    return graph.distinct

import vgraph as vg


@vg.operator
def visit(v):
    for u in v.neighbors:
        near = vg.local_list(vg.vertex, 8)
        near.append(u)


@vg.algorithm
def main(graph):
    graph.vertex_apply(visit)
    count = 0
    return count

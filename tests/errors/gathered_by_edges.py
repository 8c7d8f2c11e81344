import vgraph as vg


@vg.operator
def visit(src, edge, dst):
    near = vg.local_list(vg.vertex, 8)
    near.append(src)
    dst.seen = True


@vg.algorithm
def main(graph):
    seen = graph.vertex_property(vg.bool_)
    graph.edge_apply(visit)
    return seen

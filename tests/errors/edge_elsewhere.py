import vgraph as vg


@vg.operator
def mark(src, edge, dst):
    for e in dst.out_edges:
        e.seen = True


@vg.algorithm
def main(graph, source):
    seen = graph.edge_property(vg.bool_)
    graph.edge_apply(mark)
    return seen

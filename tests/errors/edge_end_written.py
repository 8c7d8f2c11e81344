import vgraph as vg


@vg.operator
def turn(src, edge, dst):
    edge.dst = src


@vg.algorithm
def main(graph, source):
    x = graph.edge_property(vg.int32)
    graph.edge_apply(turn)
    return x

import vgraph as vg

DIRECTED = False


@vg.operator
def settle(src, edge, dst):
    edge.flow += edge.reverse.weight


@vg.algorithm
def main(graph, source):
    flow = graph.edge_property(vg.int32)
    graph.edge_apply(settle)
    return flow

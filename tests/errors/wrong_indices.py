import vgraph as vg


@vg.operator
def pay(src, edge, dst):
    dst.paid += cost[src.id % 3]


@vg.algorithm
def main(graph, cost: vg.array(vg.float64, 2) = ((0, 1, 2), (1, 0, 3), (2, 3, 0))):
    paid = graph.vertex_property(vg.float64)
    graph.edge_apply(pay)
    return paid

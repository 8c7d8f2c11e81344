import vgraph as vg


@vg.operator
def count(src, edge, dst):
    edge.times += 1


@vg.algorithm
def counted(graph):
    times = graph.edge_property(vg.int32)
    graph.edge_apply(count)
    return times


@vg.algorithm
def main(graph):
    found = counted(graph)
    times = found.times
    return times

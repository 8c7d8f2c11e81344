import vgraph as vg


@vg.operator
def count(v, graph):
    """What Python counts as one line: ,  and ."""
    graph.total += v.heigth


@vg.algorithm
def main(graph):
    graph.total = 0
    graph.vertex_apply(count)
    total = graph.total
    return total

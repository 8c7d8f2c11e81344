import vgraph as vg


@vg.function
def first(graph, a, wanted):
    if wanted:
        return a
    return len(a)


@vg.algorithm
def main(graph, source):
    start = graph.frontier(source)
    found = first(graph, start, graph.num_edges > 3)
    return found

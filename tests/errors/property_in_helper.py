import vgraph as vg


@vg.function
def made(graph):
    seen = graph.vertex_property(vg.bool_)
    return seen[0]


@vg.algorithm
def main(graph, source):
    first = made(graph)
    return first

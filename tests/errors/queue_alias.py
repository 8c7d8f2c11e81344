import vgraph as vg


@vg.algorithm
def main(graph):
    degree = graph.vertex_property(vg.int32)
    queue = graph.priority_queue(degree)
    other = queue
    while other:
        other.pop()
    return degree

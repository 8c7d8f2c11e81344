import vgraph as vg


@vg.algorithm
def main(graph):
    degree = graph.vertex_property(vg.float64)
    queue = graph.priority_queue(degree)
    while queue:
        queue.pop()
    return degree

import vgraph as vg


@vg.algorithm
def main(graph):
    degree = graph.vertex_property(vg.int32)
    queue = graph.priority_queue(degree)
    while queue:
        queue.push(3)
    return degree

import vgraph as vg


@vg.algorithm
def main(graph):
    degree = graph.vertex_property(vg.int32)
    core = graph.vertex_property(vg.int32)
    queue = graph.priority_queue(degree)
    queue = graph.priority_queue(core)
    while queue:
        queue.pop()
    return degree

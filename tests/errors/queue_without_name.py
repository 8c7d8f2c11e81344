import vgraph as vg


@vg.algorithm
def main(graph):
    degree = graph.vertex_property(vg.int32)
    while graph.priority_queue(degree):
        pass
    return degree

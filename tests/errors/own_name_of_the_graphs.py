import vgraph as vg


@vg.algorithm
def main(graph, source):
    tall = graph.height[source]
    height = graph.vertex_property(vg.int32)
    return height, tall

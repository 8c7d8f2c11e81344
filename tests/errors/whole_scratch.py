import vgraph as vg


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    s = graph.scratch(vg.int32)
    dist[:] = s
    return dist

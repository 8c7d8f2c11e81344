import vgraph as vg


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    if dist > 3:
        dist[:] = 0
    return dist

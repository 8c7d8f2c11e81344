import vgraph as vg


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    sets = graph.disjoint_sets()
    sets[:] = 3
    return dist

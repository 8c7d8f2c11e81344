import vgraph as vg


@vg.operator
def near(v):
    for u in v.out_neighbors:
        if u.dist < 3:
            return True


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    found = graph.vertex_filter(near)
    size = len(found)
    return dist, size

import vgraph as vg


@vg.algorithm
def main(graph, source):
    row = graph.vertex_property(vg.vector(vg.float32, 3), fill=1)
    total = graph.sum(row)
    return row, total

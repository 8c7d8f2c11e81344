import vgraph as vg


import math


@vg.operator
def visit(v):
    v.dist = int(math.sqrt(v.dist))


@vg.algorithm
def main(graph, source):
    dist = graph.vertex_property(vg.int32, fill=vg.inf)
    graph.vertex_apply(visit)
    return dist

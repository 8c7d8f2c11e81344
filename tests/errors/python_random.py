import random

import vgraph as vg


@vg.operator
def shuffle(v):
    v.rank = random.random()


@vg.algorithm
def main(graph):
    rank = graph.vertex_property(vg.float64)
    graph.vertex_apply(shuffle)
    return rank

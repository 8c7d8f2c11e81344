import numpy as np

import vgraph as vg

TABLE = np.array([1.0, 2.0])


@vg.operator
def look_up(v):
    v.rank = TABLE[v.id % 2]


@vg.algorithm
def main(graph):
    rank = graph.vertex_property(vg.float64)
    graph.vertex_apply(look_up)
    return rank

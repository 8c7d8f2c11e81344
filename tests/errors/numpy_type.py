import numpy as np

import vgraph as vg


@vg.algorithm
def main(graph):
    rank = graph.vertex_property(np.float64)
    return rank

import vgraph as vg
from vgraph.algorithms import pagerank


@vg.algorithm
def main(graph, source):
    rank = pagerank(graph, damping=1.5).rank
    return rank

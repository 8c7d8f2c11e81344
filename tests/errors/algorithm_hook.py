import vgraph as vg
from vgraph.algorithms import pagerank


@vg.algorithm
def main(graph, source):
    prior = graph.vertex_property(vg.float64, fill=1)
    rank = pagerank(graph, personalization=prior).rank
    return rank

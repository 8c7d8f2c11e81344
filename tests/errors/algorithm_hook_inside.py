import vgraph as vg
from vgraph.algorithms import random_walks


@vg.algorithm
def near(graph, source: vg.vertex, share=0.5):
    ends = random_walks(graph, source, damping=share).rank
    return ends


@vg.algorithm
def main(graph, source: vg.vertex):
    share = 1 / graph.num_vertices
    ends = near(graph, source, share=share).rank
    return ends

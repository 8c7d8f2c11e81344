import vgraph as vg
from vgraph.algorithms import sssp


@vg.algorithm
def main(graph, source):
    parent = sssp(graph, source).parent
    return parent

import vgraph as vg
from vgraph.algorithms import topological_order


@vg.algorithm
def main(graph):
    order = topological_order(graph).order
    return order

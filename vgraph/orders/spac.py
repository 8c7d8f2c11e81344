"""Part by part of an edge partition: a range of numbers has the vertices whose edges mostly lie in one part."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import Graph
from vgraph.orders.partition import PART
from vgraph.partitioning import edge_partition


def order(graph: Graph) -> NDArray[np.int64]:
    """`old_of_new`, by `vgraph.edge_partition` into as many parts as there are PART vertices."""
    return edge_partition(graph, max(1, -(-graph.num_vertices // PART))).order

"""The check of edge weights that shortest-path algorithms share."""

from __future__ import annotations

import numpy as np

from vgraph.errors import ParameterError
from vgraph.graph import Graph


def check_weights(graph: Graph, *, negative: bool, zero: bool = True, infinite: bool = True) -> None:
    """Raise ParameterError without weights, for NaN among them, and for those that are not said to be right."""
    if "weight" not in graph.edge_properties:
        raise ParameterError(
            "the graph has no edge property 'weight'; vg.algorithms.bfs counts hops without one"
        )
    if not graph.num_arcs:
        return
    low, high, has_nan = graph.edge_property_range("weight")
    if has_nan:
        raise ParameterError("an edge weight is NaN")
    if low < 0 and not negative:
        raise ParameterError(
            f"the weight {low} is negative; vg.algorithms.bellman_ford takes negative weights"
        )
    if low == 0 and not zero:
        raise ParameterError("a weight is 0: weights must be above 0, or paths of one length have no end")
    if np.isinf(high) and not infinite:
        raise ParameterError("a weight is infinite")


def ones_without_weights(graph: Graph) -> Graph:
    """The graph, with the edge property `weight` 1 if it has none; made once and kept."""
    if "weight" in graph.edge_properties:
        return graph
    kept = graph.kept_with_topology(
        "ones", lambda: graph.with_edge_property("weight", np.ones(graph.num_arcs, np.int32))
    )
    assert isinstance(kept, Graph)
    return kept

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


def check_named(graph: Graph, name: object, *, negative: bool = False) -> None:
    """Raise ParameterError if the edge property of that name is missing, not finite, or negative unless `negative`.

    None stands for no weights, which are always right.
    """
    if name is None:
        return
    if name not in graph.edge_properties:
        known = ", ".join(graph.edge_properties) or "none"
        raise ParameterError(f"weight={name!r}: the graph has no such edge property; it has: {known}")
    if not graph.num_arcs:
        return
    low, high, has_nan = graph.edge_property_range(str(name))
    if has_nan or np.isinf(low) or np.isinf(high):
        raise ParameterError(f"weight={name!r}: a weight is not finite")
    if low < 0 and not negative:
        raise ParameterError(f"weight={name!r}: the weight {low} is negative")


def weighing(graph: Graph, name: object) -> Graph:
    """The graph with that edge property as `weight`; the graph itself without a name. Kept until the values change."""
    if name is None or name == "weight":
        return graph
    values = graph.edge_properties[str(name)]
    kept = graph.kept_with_topology(f"weighing {name}", dict)
    before, made = kept.get("latest", (None, None))
    if before is not values:
        made = graph.with_edge_property("weight", values)
        kept["latest"] = values, made
    assert isinstance(made, Graph)
    return made


def check_numbers(graph: Graph, **given: object) -> None:
    """Raise ParameterError for a parameter that is not None and holds a number that is not finite."""
    for name, values in given.items():
        if values is not None and not np.isfinite(np.asarray(values, np.float64)).all():
            raise ParameterError(f"{name}: a value is not finite")

"""Graphs of ratings: users, the items that they rate, and what is asked of both and of the ratings."""

from __future__ import annotations

from typing import Any

import numpy as np

from vgraph.errors import ParameterError, shown
from vgraph.graph.arrays import max_vertices
from vgraph.graph.graph import Graph
from vgraph.graph.weights import check_weights, heaviest


def check_sides(graph: Graph, users: Any, factors: Any, epochs: Any, **more: Any) -> None:
    """Raise ParameterError where edges do not lead from users to items, and for counts (`more`, too) out of range."""
    for name, value in {"factors": factors, "epochs": epochs, **more}.items():
        least = int(name == "factors")
        if value < least:
            raise ParameterError(f"{name}={shown(value)} is below {least}")
    if epochs > max_vertices():
        raise ParameterError(f"epochs={shown(epochs)}: errors of so many do not fit into memory")
    sides_of(graph, users)


def check_ratings(graph: Graph, rating: Any, users: Any, factors: Any, epochs: Any, **more: Any) -> None:
    """`check_sides`, and the same for ratings that are missing, not finite or too large."""
    check_sides(graph, users, factors, epochs, **more)
    name = named(graph, rating)
    check_weights(graph, name, negative=True, of="rating")
    if heaviest(graph, name) > float(np.finfo(np.float32).max):
        raise ParameterError(f"rating={shown(name)}: a rating is too large for a float32")


def sides_of(graph: Graph, users: Any) -> int:
    """How many users there are. Raises ParameterError where edges do not lead from them to items."""
    if not graph.directed:
        raise ParameterError("ratings lead from users to items; build the graph with directed=True")
    rated = graph.out.column_indices
    first = int(rated.min()) if rated.size else graph.num_vertices
    if not isinstance(users, int | np.integer | None):
        raise ParameterError(f"users={shown(users)} is not a number of vertices")
    known = first if users is None else users
    if not 0 <= known <= graph.num_vertices:
        raise ParameterError(f"users={shown(users)}: the graph has {graph.num_vertices} vertices")
    if rated.size and known > first:
        raise ParameterError(f"users={shown(users)}: vertex {first} is rated, so it is an item")
    raters = np.flatnonzero(graph.topology.degrees("out"))
    if raters.size and raters[-1] >= known:
        raise ParameterError(
            f"vertex {raters[-1]} rates, and the first items are {first}, ...: users come first, and items follow; "
            "vg.from_ratings, vg.read_ratings and --format ratings build such a graph"
        )
    return int(known)


def named(graph: Graph, rating: Any) -> Any:
    """The ratings, by default those of either name."""
    if rating is not None:
        return rating
    return (
        "weight" if "rating" not in graph.edge_properties and "weight" in graph.edge_properties else "rating"
    )

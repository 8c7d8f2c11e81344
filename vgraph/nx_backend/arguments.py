"""Which arguments of NetworkX's functions are supported."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from vgraph.nx_backend import function
from vgraph.nx_backend.convert import overridden
from vgraph.nx_backend.info import SMALLEST

Bound = dict[str, Any]


def _bind(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
    """The arguments by name, defaults filled in."""
    signature = inspect.signature(function(name))
    kept = {k: v for k, v in kwargs.items() if k != "backend"}
    bound = signature.bind_partial(*args, **kept)
    bound.apply_defaults()
    return dict(bound.arguments)


def _function(a: Bound) -> str:
    return "the weight is a function" if callable(a.get("weight")) or callable(a.get("distance")) else ""


def _guided(a: Bound) -> str:
    return "cutoff is not supported" if a.get("cutoff") else _function(a)


def _longest(a: Bound) -> str:
    if a.get("topo_order") is not None:
        return "topo_order is not supported"
    return "" if a.get("default_weight", 1) == 1 else "another default_weight than 1 is not supported"


def _weights(a: Bound) -> str:
    return "weights are not supported" if a.get("weight") is not None else ""


def _no_direction(a: Bound) -> str:
    return "directed graphs are not supported" if getattr(a.get("G"), "is_directed", bool)() else ""


def _assortativity(a: Bound) -> str:
    given = [name for name in ("weight", "nodes") if a.get(name) is not None]
    if getattr(a.get("G"), "is_directed", bool)():
        given += [name for name, side in (("x", "out"), ("y", "in")) if a.get(name, side) != side]
    return f"{' and '.join(given)} not supported" if given else ""


def _whole(a: Bound) -> str:
    return "nodelist is not supported" if a.get("nodelist") is not None else ""


def _not_normalized(a: Bound) -> str:
    return "normalized is not supported" if a.get("normalized") else ""


def _simple(a: Bound) -> str:
    return "multigraphs are not supported" if getattr(a.get("G"), "is_multigraph", bool)() else ""


def _unweighted(a: Bound) -> str:
    """Distances of every pair are hops."""
    given = [k for k in ("weight", "sp", "distance", "sources") if a.get(k) is not None]
    return f"{' and '.join(given)} not supported" if given else ""


def _flow(a: Bound) -> str:
    given = a.get("flow_func") is not None or a.get("kwargs")
    return "flow_func and its parameters are not supported" if given else ""


def _louvain(a: Bound) -> str:
    return "" if a.get("resolution", 1) >= 0 else "resolution below 0 is not supported"


def _colors(a: Bound) -> str:
    strategy = a.get("strategy")
    if callable(strategy) or strategy in _STRATEGIES:
        return "of the strategies largest_first and random_sequential are supported"
    return "interchange is not supported" if a.get("interchange") else ""


def _positive(a: Bound) -> str:
    """Starting values that leave no node out come to the same end as any others."""
    if a.get("nstart") is None:
        return ""
    start = dict(a["nstart"])
    if set(start) != set(a["G"]) or not all(value > 0 for value in start.values()):
        return "nstart is supported with a positive value of every node"
    return ""


def _lengths(a: Bound) -> str:
    if a.get("source") is None and a.get("target") is None:
        return "all pairs are not supported"
    if a.get("source") is None and a.get("weight") is not None:
        return "a target without a source is not supported with weights"
    return _function(a)


_STRATEGIES = (
    "smallest_last",
    "independent_set",
    "connected_sequential_bfs",
    "connected_sequential_dfs",
    "connected_sequential",
    "saturation_largest_first",
    "DSATUR",
)
"""Of `greedy_color`: their order is that of Python's sets, or each color depends on all before."""

_RULES: tuple[tuple[Callable[[Bound], str], str], ...] = (
    (
        _function,
        "all_pairs_dijkstra_path_length bellman_ford_path_length betweenness_centrality "
        "betweenness_centrality_subset closeness_centrality dijkstra_path_length shortest_simple_paths "
        "single_source_bellman_ford_path_length single_source_dijkstra_path_length",
    ),
    (_guided, "astar_path astar_path_length"),
    (_unweighted, "center diameter eccentricity harmonic_centrality periphery radius"),
    (_longest, "dag_longest_path dag_longest_path_length"),
    (_assortativity, "degree_assortativity_coefficient numeric_assortativity_coefficient"),
    (_weights, "average_clustering clustering edge_betweenness_centrality max_weight_clique"),
    (_no_direction, "average_clustering clustering greedy_color square_clustering transitivity triangles"),
    (_simple, "average_clustering clustering core_number transitivity triangles"),
    (_colors, "greedy_color"),
    (_positive, "hits"),
    (_louvain, "leiden_communities louvain_communities"),
    (_flow, "maximum_flow maximum_flow_value minimum_cut minimum_cut_value"),
    (_not_normalized, "rich_club_coefficient"),
    (_whole, "triadic_census"),
    (_lengths, "shortest_path_length"),
)
"""What is asked of the arguments of which functions, in this order."""


def refusal(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Why these arguments are not supported; nothing if they are."""
    try:
        bound = _bind(name, args, kwargs)
        reasons = [overridden(bound.get("G", bound.get("flowG")))]
        reasons += [rule(bound) for rule, names in _RULES if name in names.split()]
        return next(filter(None, reasons), "")
    except TypeError:
        return ""  # wrong arguments: the function's own error says what is wrong


_QUICK = (
    "degree_centrality",
    "in_degree_centrality",
    "is_directed_acyclic_graph",
    "out_degree_centrality",
    "topological_generations",
    "topological_sort",
)
"""What NetworkX computes in less time than a conversion takes."""


def too_small(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Why NetworkX is faster; nothing if it is not. A graph that is converted already is worth every call."""
    import networkx as nx

    graph = args[0] if args else kwargs.get("G")
    cache = getattr(graph, "__networkx_cache__", None) or {}
    if not isinstance(graph, nx.Graph) or "vgraph" in cache.get("backends", {}):
        return ""
    if name in _QUICK:
        return "NetworkX is faster than the conversion of the graph"
    own = getattr(nx.config.backends, "vgraph", None)
    smallest = SMALLEST if own is None else own.smallest
    edges = graph.number_of_edges()
    return (
        f"{edges} edges are fewer than nx.config.backends.vgraph.smallest = {smallest}"
        if edges < smallest
        else ""
    )

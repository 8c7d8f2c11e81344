"""Which arguments of NetworkX's functions are supported."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from vgraph.nx_backend.convert import overridden
from vgraph.nx_backend.info import SMALLEST

Bound = dict[str, Any]


def _bind(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
    """The arguments by name, defaults filled in."""
    from vgraph.nx_backend import functions

    signature = inspect.signature(getattr(functions, name))
    kept = {k: v for k, v in kwargs.items() if k != "backend"}
    bound = signature.bind_partial(*args, **kept)
    bound.apply_defaults()
    return dict(bound.arguments)


def _anything(a: Bound) -> str:
    return ""


def _function(a: Bound) -> str:
    return "the weight is a function" if callable(a.get("weight")) else ""


def _weights(a: Bound) -> str:
    return "weights are not supported" if a.get("weight") is not None else ""


def _pagerank(a: Bound) -> str:
    given = [k for k in ("nstart", "dangling") if a.get(k) is not None]
    return f"{' and '.join(given)} not supported" if given else ""


def _undirected(a: Bound) -> str:
    graph = a.get("G")
    if getattr(graph, "is_directed", bool)():
        return "directed graphs are not supported"
    return "multigraphs are not supported" if getattr(graph, "is_multigraph", bool)() else ""


def _clustering(a: Bound) -> str:
    return _weights(a) or _undirected(a)


def _simple(a: Bound) -> str:
    return "multigraphs are not supported" if getattr(a.get("G"), "is_multigraph", bool)() else ""


def _layers(a: Bound) -> str:
    graph, sources = a.get("G"), a.get("sources")
    try:
        return "" if sources in graph else "several sources are not supported"  # type: ignore[operator]
    except TypeError:
        return "several sources are not supported"


def _lengths(a: Bound) -> str:
    if a.get("source") is None and a.get("target") is None:
        return "all pairs are not supported"
    if a.get("source") is None and a.get("weight") is not None:
        return "a target without a source is not supported with weights"
    return _function(a)


_RULES: dict[str, Callable[[Bound], str]] = {
    "bellman_ford_path_length": _function,
    "betweenness_centrality": _weights,
    "bfs_layers": _layers,
    "core_number": _simple,
    "triangles": _undirected,
    "average_clustering": _clustering,
    "clustering": _clustering,
    "transitivity": _undirected,
    "dijkstra_path_length": _function,
    "pagerank": _pagerank,
    "shortest_path_length": _lengths,
    "single_source_bellman_ford_path_length": _function,
    "single_source_dijkstra_path_length": _function,
}


def refusal(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Why these arguments are not supported; nothing if they are."""
    try:
        bound = _bind(name, args, kwargs)
        return overridden(bound.get("G")) or _RULES.get(name, _anything)(bound)
    except TypeError:
        return ""  # wrong arguments: the function's own error says what is wrong


def too_small(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Why NetworkX is faster; nothing if it is not. A graph that is converted already is worth every call."""
    import networkx as nx

    graph = args[0] if args else kwargs.get("G")
    cache = getattr(graph, "__networkx_cache__", None) or {}
    if not isinstance(graph, nx.Graph) or "vgraph" in cache.get("backends", {}):
        return ""
    own = getattr(nx.config.backends, "vgraph", None)
    smallest = SMALLEST if own is None else own.smallest
    edges = graph.number_of_edges()
    return (
        f"{edges} edges are fewer than nx.config.backends.vgraph.smallest = {smallest}"
        if edges < smallest
        else ""
    )

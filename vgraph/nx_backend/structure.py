"""Structure: triangles, cores, trusses, colors, matchings."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

import vgraph as vg
from vgraph.nx_backend import programs
from vgraph.nx_backend.common import A, asked, by_node, converted, no_self_loops, refuse
from vgraph.nx_backend.convert import NxGraph, convert_from_nx


def _triangles(graph: NxGraph) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Triangles at each node, and how many different neighbors it has, itself left out."""
    refuse(graph, "directed")
    count: np.ndarray[Any, Any] = vg.run(A.triangle_count, graph.simple).triangles
    return count, graph.simple.out_degree


def _asked(graph: NxGraph, nodes: Any) -> list[int]:
    """The vertices of `nodes`, an iterable of nodes; those that are not in the graph are left out, as in NetworkX."""
    if nodes is None:
        return list(range(len(graph)))
    return [graph.index[node] for node in nodes if node in graph]


def _at(graph: NxGraph, nodes: Any, values: list[Any]) -> Any:
    """The value of the one node asked for, or those of some by node."""
    if nodes is not None and nodes in graph:
        return values[graph.index[nodes]]
    return {graph.nodes[v]: values[v] for v in _asked(graph, nodes)}


def triangles(G: Any, nodes: Any = None) -> Any:
    """Triangles at each node, or at one."""
    graph = converted(G)
    return _at(graph, nodes, _triangles(graph)[0].tolist())


def _clustering(graph: NxGraph) -> list[float]:
    count, degree = _triangles(graph)
    pairs = degree.astype(np.int64) * (degree.astype(np.int64) - 1)
    share = 2.0 * count / np.maximum(pairs, 1)
    return [0 if c == 0 else s for c, s in zip(count.tolist(), share.tolist(), strict=True)]


def clustering(G: Any, nodes: Any = None, weight: str | None = None) -> Any:
    """The share of pairs of neighbors that are neighbors."""
    graph = converted(G)
    return _at(graph, nodes, _clustering(graph))


def average_clustering(
    G: Any, nodes: Any = None, weight: str | None = None, count_zeros: bool = True
) -> float:
    """The mean of `clustering`."""
    graph = converted(G)
    found = _clustering(graph)
    values = [found[v] for v in _asked(graph, nodes)]
    if not count_zeros:
        values = [v for v in values if abs(v) > 0]
    return sum(values) / len(values)


def transitivity(G: Any) -> float:
    """The share of pairs of edges with a common end that are sides of a triangle."""
    graph = converted(G)
    count, degree = _triangles(graph)
    pairs = int((degree.astype(np.int64) * (degree.astype(np.int64) - 1)).sum())
    return 0 if not count.any() else 2 * int(count.sum()) / pairs


def square_clustering(G: Any, nodes: Any = None) -> Any:
    """The share of the squares that there might be at each node, or at one."""
    graph = converted(G)
    found = vg.run(A.square_clustering, graph.graph).coefficient.tolist()
    if nodes is not None and nodes in graph:
        return found[graph.index[nodes]]
    return {node: found[graph.index[node]] for node in asked(graph, nodes)}


def max_weight_clique(G: Any, weight: str | None = "weight") -> tuple[list[Any], int]:
    """A largest clique, and how many nodes it has."""
    graph = converted(G, refuses="directed")
    found = vg.run(A.maximum_clique, graph.graph)
    return [graph.nodes[v] for v in np.flatnonzero(found.member).tolist()], int(found.size)


def triadic_census(G: Any, nodelist: Any = None) -> dict[str, int]:
    """How many sets of three nodes have each kind of arcs between them."""
    graph = converted(G, refuses="undirected")
    found = vg.run(A.triad_census, graph.graph)
    return {name.removeprefix("t"): getattr(found, name) for name in found.names}


def rich_club_coefficient(
    G: Any, normalized: bool = True, Q: float = 100, seed: Any = None
) -> dict[int, float]:
    """For each degree, the density of the subgraph of nodes of a higher one."""
    graph = converted(G, refuses="directed multigraph")
    if (graph.sources == graph.targets).any():
        raise Exception("rich_club_coefficient is not implemented for graphs with self loops.")
    return dict(enumerate(vg.run(A.rich_club, graph.graph).coefficient.tolist()))


def degree_assortativity_coefficient(
    G: Any, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None
) -> float:
    """The correlation of the degrees at the ends of edges."""
    return float(vg.run(A.assortativity, converted(G).graph).assortativity)


def numeric_assortativity_coefficient(G: Any, attribute: Any, nodes: Any = None) -> float:
    """The correlation of a node attribute at the ends of edges."""
    graph = convert_from_nx(G, node_attrs={attribute: None})
    return float(vg.run(A.assortativity, graph.graph, value=graph.of_nodes[attribute]).assortativity)


def core_number(G: Any) -> dict[Any, int]:
    """The largest k such that the node is in a subgraph of least degree k."""
    graph = converted(G)
    no_self_loops(graph)
    return by_node(graph, vg.run(A.k_core, graph.undirected).core)


def k_core(G: Any, k: Any = None, core_number: Any = None) -> Any:
    """The part of the graph whose nodes have core number `k` or more, by default the greatest: a NetworkX graph."""
    graph = converted(G, everything=True, refuses="multigraph")
    if core_number is None:
        no_self_loops(graph)
        cores = vg.run(A.k_core, graph.undirected).core
    else:
        cores = np.array([core_number.get(node, -1) for node in graph.nodes])
    inside = cores >= (cores.max() if k is None else k)
    edges = np.flatnonzero(inside[graph.sources] & inside[graph.targets])
    return graph.part(np.flatnonzero(inside).tolist(), edges.tolist())


def k_truss(G: Any, k: Any) -> Any:
    """The part of the graph whose edges each lie in `k - 2` triangles or more: a NetworkX graph."""
    graph = converted(G, everything=True, refuses="directed multigraph")
    no_self_loops(graph)
    ends = np.stack([graph.sources, graph.targets])
    truss = np.zeros(graph.sources.size, np.int64)
    of_edges = vg.run(A.k_truss, graph.graph).truss
    truss[np.lexsort((ends[1], ends[0]))] = of_edges  # vgraph's edges are in the order of their ends
    edges = np.flatnonzero(truss >= k)
    return graph.part(np.unique(ends[:, edges]).tolist(), edges.tolist())


def greedy_color(G: Any, strategy: Any = "largest_first", interchange: bool = False) -> dict[Any, int]:
    """Each node in turn takes the first color that no neighbor has: of larger degree first, or at random."""
    graph = converted(G)
    if not len(graph):
        return {}
    if not callable(strategy) and strategy not in COLORINGS:
        raise nx.NetworkXError(f"strategy must be callable or a valid string. {strategy} not valid.")
    if strategy == "random_sequential":
        order = list(range(len(graph)))
        nx.utils.create_py_random_state(None).shuffle(order)
    else:
        ends = np.concatenate([graph.sources, graph.targets])
        order = np.argsort(-np.bincount(ends, minlength=len(graph)), kind="stable").tolist()
    rank = np.empty(len(graph), np.uint64)
    rank[order] = np.arange(len(graph), 0, -1)
    try:
        color = vg.run(programs.color_by_rank, graph.graph, rank=rank, max_rounds=MOST_ROUNDS).color.tolist()
    except vg.AlgorithmError:
        raise NotImplementedError(f"more than {MOST_ROUNDS} nodes wait for each other in a row") from None
    return {graph.nodes[v]: color[v] for v in order}


MOST_ROUNDS = 2000
"""Of `greedy_color`: a path of so many nodes, each to be colored after the one before, is quicker in NetworkX."""

COLORINGS = ("largest_first", "random_sequential")
"""The strategies of `greedy_color` that are supported; NetworkX has more."""


def maximal_matching(G: Any) -> set[tuple[Any, Any]]:
    """Edges of which no two share an end, and to which none can be added."""
    graph = converted(G, refuses="directed multigraph")
    mate = vg.run(A.maximal_matching, graph.graph).mate
    return {(graph.nodes[v], graph.nodes[w]) for v, w in enumerate(mate.tolist()) if v < w}

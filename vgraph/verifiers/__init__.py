"""Verifiers in the style of the GAP benchmark suite: answers are checked against what defines them, without vgraph.

Each is a function of the graph, the result and the arguments of the run; `VERIFIERS` has one for each algorithm by its
name. They are NumPy and SciPy, so they share no code with what they check. Where nothing that is cheaper than the
computation proves a result (ranks and labels after some rounds, scores of pairs, modularity), it is computed a second
time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from vgraph.errors import ParameterError, shown
from vgraph.graph import Graph
from vgraph.runtime.result import Result
from vgraph.tracebacks import public
from vgraph.verifiers import (
    blocks,
    census,
    communities,
    distances,
    factors,
    flows,
    iterations,
    matchings,
    pairs,
    paths,
    sampling,
    scores,
    structure,
)
from vgraph.verifiers.common import flagged
from vgraph.verifiers.fields import check_fields

Verifier = Callable[[Graph, Result, Mapping[str, Any]], None]

VERIFIERS: Final[dict[str, Verifier]] = {
    "a_star": paths.route,
    "adamic_adar": pairs.pairs,
    "alternating_least_squares": factors.by_least_squares,
    "assortativity": census.assortativity,
    "bayesian_personalized_ranking": factors.by_pairs,
    "bellman_ford": paths.shortest,
    "betweenness": scores.betweenness,
    "bfs": paths.tree,
    "bipartite_matching": matchings.heaviest,
    "biconnected_components": blocks.blocks,
    "clique_count": census.cliques,
    "closeness": scores.closeness,
    "coloring": structure.coloring,
    "conjugate_gradient": scores.solution,
    "connected_components": structure.weak_components,
    "cosine": pairs.pairs,
    "degree_centrality": scores.degrees,
    "diameter": distances.diameter,
    "eccentricity": distances.eccentricity,
    "edge_betweenness": scores.edge_betweenness,
    "eigenvector": iterations.eigenvector,
    "harmonic_centrality": scores.harmonic,
    "hits": iterations.hits,
    "jaccard": pairs.pairs,
    "k_core": structure.cores,
    "k_truss": structure.trusses,
    "katz": iterations.katz,
    "label_components": structure.weak_components,
    "label_propagation": communities.labels,
    "leiden": communities.louvain,
    "local_clustering": structure.clustering,
    "longest_path": paths.longest,
    "louvain": communities.louvain,
    "matrix_factorization": factors.by_descent,
    "max_flow": flows.maximum,
    "maximal_independent_set": structure.independent,
    "maximal_matching": matchings.maximal,
    "maximum_clique": census.maximum_clique,
    "minimum_spanning_forest": structure.forest,
    "modularity": communities.modularity,
    "most_similar": pairs.most_similar,
    "motif_census": census.motifs,
    "multi_source_bfs": paths.tree,
    "neighbor_sampling": sampling.neighborhoods,
    "node2vec_walks": sampling.walks,
    "overlap": pairs.pairs,
    "pagerank": iterations.pagerank,
    "pairwise_ranking": factors.by_projections,
    "path_counts": paths.counts,
    "random_walks": scores.walks,
    "resource_allocation": pairs.pairs,
    "rich_club": census.rich_clubs,
    "simrank": pairs.simrank,
    "sorensen": pairs.pairs,
    "spmm": scores.product,
    "spmv": scores.product,
    "square_clustering": census.squares,
    "sssp": paths.shortest_tree,
    "strongly_connected_components": structure.strong_components,
    "topological_order": paths.topological,
    "transitive_reduction": paths.reduction,
    "triad_census": census.triads,
    "triangle_count": structure.triangles,
    "weighted_betweenness": scores.weighted_betweenness,
    "weighted_closeness": scores.weighted_closeness,
    "weighted_matching": matchings.dominant,
    "widest_path": paths.widest,
}

STOPPING: Final = ("diameter", "hits", "label_propagation", "leiden", "louvain", "pagerank", "simrank")
"""Those that may stop before they have converged, whose verifiers look at that."""


@public
def verify(result: Result, graph: Graph | None = None) -> None:
    """Check the result of `vg.run` against what defines it, and return if it is right.

    graph: the one that it was made from; by default the result's own, which it does not keep alive and a copy (of
    `pickle`, too) does not have. Raises VerificationError, which names the first vertex (or edge, or pair) that is
    wrong, and ParameterError where there is no graph any more, or another one, or no verifier for the algorithm:
    `vgraph.verifiers.VERIFIERS` has one for each of the library. Some take much longer than the run: betweenness
    (of edges, too), closeness, harmonic centrality and eccentricity search from every source again.
    """
    if not isinstance(result, Result) or not isinstance(graph, Graph | None):
        raise ParameterError(f"verify(result, graph): not {shown(result)} and {shown(graph)}")
    own, origin = result.origin()
    if origin is None:
        raise ParameterError("this result does not say what it was made from: it is none of this vg.run's")
    if result.algorithm not in VERIFIERS or origin.module != f"vgraph.algorithms.{result.algorithm}":
        raise ParameterError(
            f"{result.algorithm} has no verifier; there are verifiers for the library's {', '.join(VERIFIERS)}"
        )
    if any(hasattr(getattr(result, name), "__cuda_array_interface__") for name in result.names):
        raise ParameterError('these results are on the GPU: run with output="numpy" to verify them')
    graph = graph if graph is not None else own
    if graph is None:
        raise ParameterError(
            "the graph of this result is gone: keep it, and give it as verify(result, graph)"
        )
    size = graph.num_vertices, graph.num_arcs, graph.directed
    if size != origin.size:
        raise ParameterError(
            f"the result is of another graph: {_words(*origin.size)}, where this one has {_words(*size)}"
        )
    check_fields(graph, result, origin.arguments)
    with np.errstate(all="ignore"):
        VERIFIERS[result.algorithm](graph, result, origin.arguments)
    if result.algorithm not in STOPPING:
        flagged(result, True)


def _words(vertices: int, arcs: int, directed: bool) -> str:
    return f"{vertices:,} vertices and {arcs:,} {'directed' if directed else 'undirected'} arcs"

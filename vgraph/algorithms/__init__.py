"""The library: each algorithm is one short file, and an example of the language.

`__all__` has the algorithms, which `vg.run` runs; `all_pairs_shortest_paths`, `k_shortest_paths` and
`spectral_embedding` are functions that run some.
"""

from __future__ import annotations

from vgraph.algorithms.a_star import a_star
from vgraph.algorithms.adamic_adar import adamic_adar
from vgraph.algorithms.all_pairs_shortest_paths import all_pairs_shortest_paths as all_pairs_shortest_paths
from vgraph.algorithms.alternating_least_squares import alternating_least_squares
from vgraph.algorithms.assortativity import assortativity
from vgraph.algorithms.bayesian_personalized_ranking import (
    bayesian_personalized_ranking,
)
from vgraph.algorithms.bellman_ford import bellman_ford
from vgraph.algorithms.betweenness import betweenness
from vgraph.algorithms.bfs import bfs
from vgraph.algorithms.biconnected_components import biconnected_components
from vgraph.algorithms.bipartite_matching import bipartite_matching
from vgraph.algorithms.clique_count import clique_count
from vgraph.algorithms.closeness import closeness
from vgraph.algorithms.coloring import coloring
from vgraph.algorithms.conjugate_gradient import conjugate_gradient
from vgraph.algorithms.connected_components import connected_components
from vgraph.algorithms.cosine import cosine
from vgraph.algorithms.degree_centrality import degree_centrality
from vgraph.algorithms.diameter import diameter
from vgraph.algorithms.eccentricity import eccentricity
from vgraph.algorithms.edge_betweenness import edge_betweenness
from vgraph.algorithms.eigenvector import eigenvector
from vgraph.algorithms.harmonic_centrality import harmonic_centrality
from vgraph.algorithms.hits import hits
from vgraph.algorithms.jaccard import jaccard
from vgraph.algorithms.k_core import k_core
from vgraph.algorithms.k_shortest_paths import k_shortest_paths as k_shortest_paths
from vgraph.algorithms.k_truss import k_truss
from vgraph.algorithms.katz import katz
from vgraph.algorithms.label_components import label_components
from vgraph.algorithms.label_propagation import label_propagation
from vgraph.algorithms.leiden import leiden
from vgraph.algorithms.local_clustering import local_clustering
from vgraph.algorithms.longest_path import longest_path
from vgraph.algorithms.louvain import louvain
from vgraph.algorithms.matrix_factorization import matrix_factorization
from vgraph.algorithms.max_flow import max_flow
from vgraph.algorithms.maximal_independent_set import maximal_independent_set
from vgraph.algorithms.maximal_matching import maximal_matching
from vgraph.algorithms.maximum_clique import maximum_clique
from vgraph.algorithms.minimum_spanning_forest import minimum_spanning_forest
from vgraph.algorithms.modularity import modularity
from vgraph.algorithms.most_similar import most_similar
from vgraph.algorithms.motif_census import motif_census
from vgraph.algorithms.multi_source_bfs import multi_source_bfs
from vgraph.algorithms.neighbor_sampling import neighbor_sampling
from vgraph.algorithms.node2vec_walks import node2vec_walks
from vgraph.algorithms.overlap import overlap
from vgraph.algorithms.pagerank import pagerank
from vgraph.algorithms.pairwise_ranking import pairwise_ranking
from vgraph.algorithms.path_counts import path_counts
from vgraph.algorithms.random_walks import random_walks
from vgraph.algorithms.resource_allocation import resource_allocation
from vgraph.algorithms.rich_club import rich_club
from vgraph.algorithms.simrank import simrank
from vgraph.algorithms.sorensen import sorensen
from vgraph.algorithms.spectral_embedding import spectral_embedding as spectral_embedding
from vgraph.algorithms.spmm import spmm
from vgraph.algorithms.spmv import spmv
from vgraph.algorithms.square_clustering import square_clustering
from vgraph.algorithms.sssp import sssp
from vgraph.algorithms.strongly_connected_components import strongly_connected_components
from vgraph.algorithms.topological_order import topological_order
from vgraph.algorithms.transitive_reduction import transitive_reduction
from vgraph.algorithms.triad_census import triad_census
from vgraph.algorithms.triangle_count import triangle_count
from vgraph.algorithms.weighted_betweenness import weighted_betweenness
from vgraph.algorithms.weighted_closeness import weighted_closeness
from vgraph.algorithms.weighted_matching import weighted_matching
from vgraph.algorithms.widest_path import widest_path

__all__ = [
    "a_star", "adamic_adar", "alternating_least_squares", "assortativity", "bayesian_personalized_ranking",
    "bellman_ford", "betweenness", "bfs", "biconnected_components", "bipartite_matching", "clique_count",
    "closeness", "coloring", "conjugate_gradient", "connected_components", "cosine", "degree_centrality",
    "diameter", "eccentricity", "edge_betweenness", "eigenvector", "harmonic_centrality", "hits", "jaccard",
    "k_core", "k_truss", "katz", "label_components", "label_propagation", "leiden", "local_clustering",
    "longest_path", "louvain", "matrix_factorization", "max_flow", "maximal_independent_set",
    "maximal_matching", "maximum_clique", "minimum_spanning_forest", "modularity", "most_similar",
    "motif_census", "multi_source_bfs", "neighbor_sampling", "node2vec_walks", "overlap", "pagerank",
    "pairwise_ranking", "path_counts", "random_walks", "resource_allocation", "rich_club", "simrank",
    "sorensen", "spmm", "spmv", "square_clustering", "sssp", "strongly_connected_components",
    "topological_order", "transitive_reduction", "triad_census", "triangle_count", "weighted_betweenness",
    "weighted_closeness", "weighted_matching", "widest_path",
]  # fmt: skip

"""What NetworkX is told of the backend when it is imported; this module imports nothing."""

from __future__ import annotations

from typing import Any

SMALLEST = 2000
"""Edges below which NetworkX itself is faster, conversion included (`nx.config.backends.vgraph.smallest`)."""

FUNCTIONS: dict[str, str] = {
    "adamic_adar_index": "",
    "ancestors": "",
    "articulation_points": "",
    "astar_path": "The weight is an edge attribute, not a function; `cutoff` is not supported.",
    "astar_path_length": "As `astar_path`.",
    "average_clustering": "Weights are not supported; undirected graphs only.",
    "bellman_ford_path_length": "",
    "betweenness_centrality": "The weight is an edge attribute above 0, not a function.",
    "betweenness_centrality_subset": "The weight is an edge attribute above 0, not a function.",
    "bfs_layers": "",
    "biconnected_component_edges": "Self-loops are in none.",
    "biconnected_components": "",
    "bridges": "",
    "center": "Distances in hops: `weight` is not supported.",
    "closeness_centrality": "The distance is an edge attribute of at least 0, not a function.",
    "clustering": "Weights are not supported; undirected graphs only.",
    "connected_components": "",
    "core_number": "No multigraphs.",
    "degree_assortativity_coefficient": "`weight`, `nodes` and other `x` and `y` are not supported.",
    "degree_centrality": "",
    "descendants": "",
    "descendants_at_distance": "",
    "diameter": "Distances in hops: `weight` is not supported.",
    "dijkstra_path_length": "The weight is an edge attribute, not a function.",
    "eccentricity": "Distances in hops: `weight` and `sp` are not supported.",
    "edge_betweenness_centrality": "Weights are not supported.",
    "eigenvector_centrality": "",
    "greedy_color": "Undirected graphs; `largest_first` and `random_sequential` without `interchange`; no long chains.",
    "harmonic_centrality": "Distances in hops: `distance` and `sources` are not supported.",
    "has_bridges": "",
    "has_path": "",
    "hits": "Power iteration, up to 20 rounds for each of `max_iter`; `nstart` is positive, weights are not negative.",
    "in_degree_centrality": "",
    "is_biconnected": "",
    "is_connected": "",
    "is_directed_acyclic_graph": "",
    "is_strongly_connected": "",
    "is_weakly_connected": "",
    "jaccard_coefficient": "",
    "k_core": "",
    "k_truss": "",
    "katz_centrality": "",
    "leiden_communities": "Undirected graphs; weights and `resolution` not negative. `seed` has no influence.",
    "louvain_communities": "Undirected graphs; weights and `resolution` not negative. `seed` has no influence.",
    "max_weight_clique": "With `weight=None`.",
    "maximal_matching": "Some maximal matching, not that of NetworkX.",
    "maximum_spanning_edges": "The forest of Kruskal's algorithm, whichever is asked for.",
    "maximum_spanning_tree": "The forest of Kruskal's algorithm, whichever is asked for.",
    "minimum_spanning_edges": "The forest of Kruskal's algorithm, whichever is asked for.",
    "minimum_spanning_tree": "The forest of Kruskal's algorithm, whichever is asked for.",
    "modularity": "Weights must not be negative.",
    "node_connected_component": "",
    "number_connected_components": "",
    "number_strongly_connected_components": "",
    "number_weakly_connected_components": "",
    "numeric_assortativity_coefficient": "`nodes` is not supported.",
    "out_degree_centrality": "",
    "pagerank": "",
    "periphery": "Distances in hops: `weight` is not supported.",
    "radius": "Distances in hops: `weight` is not supported.",
    "resource_allocation_index": "",
    "rich_club_coefficient": "With `normalized=False`.",
    "shortest_path_length": "With a source; with a target alone if there is no weight, which is an edge attribute.",
    "single_source_bellman_ford_path_length": "The weight is an edge attribute, not a function.",
    "single_source_dijkstra_path_length": "The weight is an edge attribute, not a function.",
    "single_source_shortest_path_length": "",
    "single_target_shortest_path_length": "",
    "square_clustering": "Undirected graphs only.",
    "strongly_connected_components": "",
    "topological_generations": "",
    "topological_sort": "By generations, in each in the order of `G.nodes`.",
    "transitivity": "Undirected graphs only.",
    "triadic_census": "`nodelist` is not supported.",
    "triangles": "Undirected graphs without parallel edges only.",
    "weakly_connected_components": "",
}
"""What is implemented, and what of it is not."""


def get_info() -> dict[str, Any]:
    """The entry point `networkx.backend_info`."""
    return {
        "backend_name": "vgraph",
        "project": "vgraph",
        "package": "vgraph",
        "short_summary": "Graph algorithms compiled for this machine.",
        "description": "Runs NetworkX functions with vgraph's compiled algorithms.",
        "functions": {
            name: {"additional_docs": text} if text else {} for name, text in sorted(FUNCTIONS.items())
        },
        "default_config": {"smallest": SMALLEST},
    }

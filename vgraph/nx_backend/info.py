"""What NetworkX is told of the backend when it is imported; this module imports nothing."""

from __future__ import annotations

from typing import Any

SMALLEST = 2000
"""Edges below which NetworkX itself is faster, conversion included (`nx.config.backends.vgraph.smallest`)."""

FUNCTIONS: dict[str, str] = {
    "bellman_ford_path_length": "",
    "ancestors": "",
    "bfs_layers": "One source.",
    "betweenness_centrality": "Weights are not supported.",
    "clustering": "Weights are not supported; undirected graphs only.",
    "average_clustering": "Weights are not supported; undirected graphs only.",
    "connected_components": "",
    "core_number": "No multigraphs.",
    "descendants": "",
    "dijkstra_path_length": "The weight is an edge attribute, not a function.",
    "has_path": "",
    "is_connected": "",
    "is_weakly_connected": "",
    "node_connected_component": "",
    "number_connected_components": "",
    "number_weakly_connected_components": "",
    "pagerank": "`nstart` and `dangling` are not supported, nor weights that differ.",
    "single_source_bellman_ford_path_length": "The weight is an edge attribute, not a function.",
    "single_source_dijkstra_path_length": "The weight is an edge attribute, not a function.",
    "single_source_shortest_path_length": "",
    "single_target_shortest_path_length": "",
    "shortest_path_length": "With a source; with a target alone if there is no weight, which is an edge attribute.",
    "transitivity": "Undirected graphs only.",
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

"""The library: each algorithm is one short file, and an example of the language."""

from __future__ import annotations

from vgraph.algorithms.bellman_ford import bellman_ford
from vgraph.algorithms.betweenness import betweenness
from vgraph.algorithms.bfs import bfs
from vgraph.algorithms.coloring import coloring
from vgraph.algorithms.connected_components import connected_components
from vgraph.algorithms.hits import hits
from vgraph.algorithms.k_core import k_core
from vgraph.algorithms.label_components import label_components
from vgraph.algorithms.label_propagation import label_propagation
from vgraph.algorithms.maximal_independent_set import maximal_independent_set
from vgraph.algorithms.minimum_spanning_forest import minimum_spanning_forest
from vgraph.algorithms.pagerank import pagerank
from vgraph.algorithms.sssp import sssp
from vgraph.algorithms.strongly_connected_components import strongly_connected_components
from vgraph.algorithms.triangle_count import triangle_count

__all__ = [
    "bellman_ford",
    "betweenness",
    "bfs",
    "coloring",
    "connected_components",
    "hits",
    "k_core",
    "label_components",
    "label_propagation",
    "maximal_independent_set",
    "minimum_spanning_forest",
    "pagerank",
    "sssp",
    "strongly_connected_components",
    "triangle_count",
]

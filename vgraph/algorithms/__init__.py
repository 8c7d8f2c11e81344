"""The library: each algorithm is one short file, and an example of the language."""

from __future__ import annotations

from vgraph.algorithms.bellman_ford import bellman_ford
from vgraph.algorithms.betweenness import betweenness
from vgraph.algorithms.bfs import bfs
from vgraph.algorithms.connected_components import connected_components
from vgraph.algorithms.k_core import k_core
from vgraph.algorithms.label_components import label_components
from vgraph.algorithms.label_propagation import label_propagation
from vgraph.algorithms.maximal_independent_set import maximal_independent_set
from vgraph.algorithms.pagerank import pagerank
from vgraph.algorithms.sssp import sssp
from vgraph.algorithms.triangle_count import triangle_count

__all__ = [
    "bellman_ford",
    "betweenness",
    "bfs",
    "connected_components",
    "k_core",
    "label_components",
    "label_propagation",
    "maximal_independent_set",
    "pagerank",
    "sssp",
    "triangle_count",
]

"""What a method of edge partition is given."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import Graph
from vgraph.partitioning.methods import partition


@dataclass(frozen=True, eq=False)
class EdgeProblem:
    """The edges of a graph, by their numbers, to be divided into k parts of at most `imbalance` times the mean."""

    graph: Graph
    k: int
    imbalance: float
    seed: int
    partitioner: str
    threads: int | None
    device: str | None

    @functools.cached_property
    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sources and targets of all edges."""
        sources, targets, _ = self.graph.edges()
        return sources.astype(np.int64), targets.astype(np.int64)

    @property
    def limit(self) -> int:
        """How many edges a part may have."""
        mean = self.graph.num_edges / self.k
        return max(int(min(self.imbalance, self.k) * mean), -(-self.graph.num_edges // self.k))

    @functools.cached_property
    def stream(self) -> NDArray[np.int64]:
        """The numbers of the edges in the order in which the user gave them."""
        order = self.graph.topology.edge_order
        if order is None:
            return np.arange(self.graph.num_edges)
        kept = order[order >= 0]
        return kept[np.sort(np.unique(kept, return_index=True)[1])]

    def vertices(self, graph: Graph, **weights: Any) -> NDArray[np.int32]:
        """The vertices of a graph in as many parts, by the partitioner that was asked for."""
        given = graph, self.k, self.partitioner, self.imbalance, self.seed
        return partition(*given, threads=self.threads, device=self.device, **weights).parts

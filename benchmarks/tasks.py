"""What everybody is given: the graph, and arguments drawn from it. NumPy alone: peers' interpreters have no vgraph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from graphs import SEED, GraphData
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Numbers = NDArray[np.float64]

DAMPING = 0.85
ROUNDS = 20
"""Of PageRank."""
SOURCES = 4
"""Of betweenness: the graph's source, so many times over."""
MANY_SOURCES = 64
"""Of the search from many sources."""
LANDMARKS = 4
"""From which distances bound those to the target."""
PAIRS = 100_000
"""Of vertices, for link prediction."""
CLIQUE = 4
"""Vertices of the cliques that are counted."""
COLUMNS = 16
"""Of a dense matrix."""
COMMUNITIES = 64
"""Of which modularity is asked: equal ranges of ids."""
CONVERGED = 1e-6
"""Where eigenvector and Katz centrality end: change per vertex."""
RESIDUAL = 1e-8
"""Where conjugate gradients end, to the right-hand side."""


@dataclass(frozen=True)
class Task:
    """One graph as all sides get it, and arguments that are the same for all of them.

    `data` is undirected; `directed` has the arcs of the file where the file is directed, and is `data` otherwise.
    """

    data: GraphData
    directed: GraphData

    @staticmethod
    def load(path: Path) -> Task:
        """From `NAME.npz`, and `NAME.directed.npz` if there is one. Raises ValueError for files of another format."""
        data = GraphData.load(path)
        arcs = directed_file(path)
        directed = GraphData.load(arcs) if arcs.exists() else data
        if data is None or directed is None:
            raise ValueError(f"{path} is of another format")
        return Task(data, directed)

    @property
    def few(self) -> list[int]:
        """Vertices that a path with weights is sought from: the source, and those numbered after it."""
        return [(self.data.source + k) % self.data.num_vertices for k in range(SOURCES)]

    @property
    def target(self) -> int:
        """Where a path is to lead: half of all vertices further on, by number."""
        n = self.data.num_vertices
        return (self.data.source + n // 2) % n

    @cached_property
    def acyclic(self) -> tuple[Ids, Ids, Numbers]:
        """Sources, targets and weights of the arcs that lead to larger ids."""
        sources, targets, weight = self.data.edges()
        up = sources < targets
        return sources[up], targets[up], weight[up]

    @cached_property
    def bounds(self) -> Numbers:
        """For each vertex a lower bound of its distance to the target, from those to landmarks (Goldberg and Harrelson
        2005). Needs SciPy.
        """
        from scipy.sparse import csgraph, csr_array

        data, n = self.data, self.data.num_vertices
        matrix = csr_array((data.weight, data.column_indices, data.row_offsets), shape=(n, n))
        far = csgraph.dijkstra(matrix, indices=self.sources[:LANDMARKS])
        gap = np.abs(far - far[:, [self.target]])
        return np.asarray(np.where(np.isfinite(gap), gap, 0).max(axis=0))

    @property
    def sources(self) -> Ids:
        """Some vertices, the graph's source first."""
        n = self.data.num_vertices
        return np.unique(np.r_[self.data.source, self._draw(min(MANY_SOURCES - 1, n))])

    @cached_property
    def pairs(self) -> tuple[Ids, Ids]:
        """Pairs of different vertices: half of them two hops apart as a rule, the others anywhere."""
        n, offsets, columns = self.data.num_vertices, self.data.row_offsets, self.data.column_indices
        rng = np.random.default_rng(SEED)
        left, right = rng.integers(0, n, (2, PAIRS))
        near = rng.integers(0, columns.size, PAIRS // 2)
        middle = columns[near]
        degree = np.diff(offsets)[middle]
        right[: near.size] = columns[offsets[middle] + rng.integers(0, degree)]
        left[: near.size] = np.searchsorted(offsets, near, side="right") - 1
        apart = left != right
        return left[apart], right[apart]

    @cached_property
    def vector(self) -> Numbers:
        """A number for each vertex."""
        return np.random.default_rng(SEED).random(self.data.num_vertices)

    @cached_property
    def dense(self) -> Numbers:
        """A row of numbers for each vertex."""
        return np.random.default_rng(SEED).random((self.data.num_vertices, COLUMNS))

    @cached_property
    def community(self) -> Ids:
        """A community for each vertex."""
        ids = np.arange(self.data.num_vertices)
        return ids * min(COMMUNITIES, ids.size) // ids.size

    @cached_property
    def alpha(self) -> float:
        """With which Katz centrality converges on every graph."""
        return 1.0 / (1 + int(np.diff(self.data.row_offsets).max()))

    @cached_property
    def definite(self) -> tuple[Ids, Ids, Numbers]:
        """Rows, columns and values of a positive definite matrix: the Laplacian and the identity."""
        sources, targets, _ = self.data.edges()
        every = np.arange(self.data.num_vertices)
        degree = np.diff(self.data.row_offsets)
        values = np.r_[np.full(sources.size, -1.0), degree + 1.0]
        return np.r_[sources, every], np.r_[targets, every], values

    def _draw(self, count: int) -> Ids:
        return np.random.default_rng(SEED).integers(0, self.data.num_vertices, count)


def directed_file(path: Path) -> Path:
    """Where the arcs of the graph in `path` are, if it has directions."""
    return path.with_suffix(".directed.npz")

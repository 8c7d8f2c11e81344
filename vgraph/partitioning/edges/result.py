"""A partition of the edges: the parts, and what is measured of them."""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import Graph
from vgraph.graph.arrays import sealed
from vgraph.graph.order import EDGE_NUMBER


@dataclass(frozen=True, eq=False, repr=False)
class EdgePartition:
    """The edges of a graph in k parts.

    `numbered`: int32[num_edges], from 0 to k - 1, in the order of `graph.edges()`. Everything else is counted when it
    is asked for. A vertex has a copy in each part that holds an edge of it.
    """

    graph: Graph
    numbered: NDArray[np.int32]
    k: int
    method: str
    seed: int
    seconds: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbered", sealed(self.numbered))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, f.name) for f in fields(self))

    @functools.cached_property
    def parts(self) -> NDArray[np.int32]:
        """The part of each edge in the order in which `Graph.from_edges` got them; -1 for those that it left out."""
        return sealed(self.graph.in_given_order(self.numbered + np.int32(1)) - np.int32(1))

    @property
    def of_arcs(self) -> NDArray[np.int32]:
        """The part of each arc in out order, int32[num_arcs], for `graph.with_edge_property`."""
        found: NDArray[np.int32] = self.numbered[self.graph.edge_array(EDGE_NUMBER)]
        return found

    @functools.cached_property
    def copies(self) -> NDArray[np.int64]:
        """How many parts hold an edge of each vertex, int64[num_vertices]; 0 without edges."""
        sources, targets, _ = self.graph.edges()
        ends = np.concatenate((sources, targets)).astype(np.int64)
        keys = np.sort(ends * self.k + np.concatenate((self.numbered, self.numbered)))
        first = np.concatenate(([True], keys[1:] != keys[:-1])) if keys.size else np.empty(0, np.bool_)
        return np.bincount(keys[first] // self.k, minlength=self.graph.num_vertices)

    @functools.cached_property
    def order(self) -> NDArray[np.int64]:
        """All vertices part by part, each in the one that holds most of its edges (of several the first), those without
        edges behind, else by id: int64[num_vertices], for `vg.reorder(graph, by=...)` and `relabel=`.

        What the edges of a part read and write then is, but for copies, a range of ids that fits a cache.
        """
        sources, targets, _ = self.graph.edges()
        ends = np.concatenate((sources, targets)).astype(np.int64)
        keys, counts = np.unique(ends * self.k + np.concatenate((self.numbered,) * 2), return_counts=True)
        best = np.lexsort((keys, -counts, keys // self.k))
        vertices = keys[best] // self.k
        first = np.ones(vertices.size, np.bool_)
        first[1:] = vertices[1:] != vertices[:-1]
        part = np.full(self.graph.num_vertices, self.k)
        part[vertices[first]] = keys[best][first] % self.k
        return sealed(np.argsort(part, kind="stable"))

    @property
    def cost(self) -> int:
        """C: the copies of each vertex with edges beyond its first, added up (Li et al. 2017, definition 3.1)."""
        return int(np.maximum(self.copies - 1, 0).sum())

    @property
    def replication(self) -> float:
        """The mean number of copies of the vertices that have edges, 1 at least; 1 without edges."""
        found = self.copies[self.copies > 0]
        return float(found.mean()) if found.size else 1.0

    @functools.cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many edges each part has, int64[k]."""
        return np.bincount(self.numbered, minlength=self.k)

    @property
    def balance(self) -> float:
        """The largest part over the mean; 1 is even."""
        edges = self.numbered.size
        return float(self.sizes.max()) * self.k / edges if edges else 1.0

    def __repr__(self) -> str:
        figures = f"k={self.k}, C={self.cost}, replication={self.replication:.4f}, balance={self.balance:.4f}"
        return f"<EdgePartition of {self.graph!r} by {self.method}: {figures}>"

"""SciPy: serial, compiled."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from graphs import GraphData
from scipy.sparse import coo_array, csgraph, csr_array, linalg
from tasks import RESIDUAL

from libraries import Call, Peer


class Library(Peer):
    """`scipy.sparse` and its `csgraph`."""

    @cached_property
    def matrix(self) -> Any:
        return _matrix(self.task.data)

    def bfs(self) -> Call:
        matrix, source = self.matrix, self.task.data.source
        return lambda: csgraph.breadth_first_order(matrix, source)

    def sssp(self) -> Call:
        matrix, source = self.matrix, self.task.data.source
        return lambda: csgraph.dijkstra(matrix, indices=source)

    def all_pairs_hops(self) -> Call:
        matrix, sources = self.matrix, range(min(64, self.task.data.num_vertices))
        return lambda: csgraph.dijkstra(matrix, indices=sources, unweighted=True)

    def all_pairs_lengths(self) -> Call:
        matrix, sources = self.matrix, range(min(64, self.task.data.num_vertices))
        return lambda: csgraph.dijkstra(matrix, indices=sources)

    def bellman_ford(self) -> Call:
        matrix, source = self.matrix, self.task.data.source
        return lambda: csgraph.bellman_ford(matrix, indices=source)

    def multi_source_bfs(self) -> Call:
        matrix, sources = self.matrix, self.task.sources
        return lambda: csgraph.dijkstra(matrix, indices=sources, unweighted=True, min_only=True)

    def cc(self) -> Call:
        matrix = self.matrix
        return lambda: csgraph.connected_components(matrix, directed=False)

    def strongly_connected_components(self) -> Call:
        matrix = _matrix(self.task.directed)
        return lambda: csgraph.connected_components(matrix, connection="strong")

    def bipartite_matching(self) -> Call:
        sources, targets, weight = self.task.acyclic
        n = self.task.data.num_vertices
        matrix = coo_array((weight, (sources, targets)), shape=(n, n)).tocsr()
        return lambda: csgraph.maximum_bipartite_matching(matrix)

    def minimum_spanning_forest(self) -> Call:
        matrix = self.matrix
        return lambda: csgraph.minimum_spanning_tree(matrix)

    def most_similar(self) -> Call:
        matrix = self.matrix
        return lambda: matrix @ matrix

    def spmm(self) -> Call:
        matrix, dense = self.matrix.astype("float64"), self.task.dense
        return lambda: matrix @ dense

    def spmv(self) -> Call:
        matrix, vector = self.matrix.astype("float64"), self.task.vector
        return lambda: matrix @ vector

    def conjugate_gradient(self) -> Call:
        rows, columns, values = self.task.definite
        matrix, right = coo_array((values, (rows, columns))).tocsr(), self.task.vector
        return lambda: linalg.cg(matrix, right, rtol=RESIDUAL)


def _matrix(data: GraphData) -> Any:
    n = data.num_vertices
    return csr_array((data.weight, data.column_indices, data.row_offsets), shape=(n, n))

"""SuiteSparse:GraphBLAS by python-graphblas, in the way of LAGraph: each function here is a program of the user's."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import graphblas as gb
import numpy as np
from tasks import CONVERGED, DAMPING, RESIDUAL, ROUNDS, SOURCES, Task

from libraries import Call, Peer


class Library(Peer):
    """python-graphblas: `matrix` has the weights, `pattern` True for each edge."""

    def __init__(self, task: Task, threads: int) -> None:
        super().__init__(task, threads)
        gb.ss.config["nthreads"] = threads

    @cached_property
    def matrix(self) -> Any:
        n = self.task.data.num_vertices
        sources, targets, weight = self.task.data.edges()
        return gb.Matrix.from_coo(sources, targets, weight, nrows=n, ncols=n)

    @cached_property
    def pattern(self) -> Any:
        n = self.task.data.num_vertices
        sources, targets, _ = self.task.data.edges()
        return gb.Matrix.from_coo(sources, targets, True, dtype=bool, nrows=n, ncols=n)

    @cached_property
    def real(self) -> Any:
        return self.matrix.dup(gb.dtypes.FP64)

    def bfs(self) -> Call:
        matrix, n, source = self.matrix, self.task.data.num_vertices, self.task.data.source

        def bfs() -> None:
            parent = gb.Vector(gb.dtypes.INT32, n)
            frontier = gb.Vector(gb.dtypes.INT32, n)
            parent[source] = frontier[source] = source
            while frontier.nvals:
                frontier(~parent.S, replace=True) << gb.semiring.any_secondi(frontier @ matrix)
                parent(frontier.S) << frontier

        return bfs

    def multi_source_bfs(self) -> Call:
        matrix, n, sources = self.matrix, self.task.data.num_vertices, self.task.sources

        def multi_source_bfs() -> None:
            parent = gb.Vector.from_coo(sources, sources, dtype=gb.dtypes.INT32, size=n)
            frontier = parent.dup()
            while frontier.nvals:
                frontier(~parent.S, replace=True) << gb.semiring.any_secondi(frontier @ matrix)
                parent(frontier.S) << frontier

        return multi_source_bfs

    def path_counts(self) -> Call:
        pattern, n, source = self.pattern, self.task.data.num_vertices, self.task.data.source

        def path_counts() -> None:
            paths = gb.Vector(gb.dtypes.FP64, n)
            paths[source] = 1.0
            frontier = paths.dup()
            while frontier.nvals:
                frontier(~paths.S, replace=True) << gb.semiring.plus_first(frontier @ pattern)
                paths(frontier.S) << frontier

        return path_counts

    def sssp(self) -> Call:
        matrix, n, source = self.matrix, self.task.data.num_vertices, self.task.data.source

        def sssp() -> None:
            dist = gb.Vector(gb.dtypes.INT32, n)
            dist[source] = 0
            frontier = dist.dup()
            while frontier.nvals:
                reached = gb.semiring.min_plus(frontier @ matrix).new()
                known = gb.binary.lt(reached | dist, left_default=2**31 - 1, right_default=2**31 - 1).new()
                frontier = reached.dup(mask=known.V)
                dist(gb.binary.min) << frontier

        return sssp

    def bellman_ford(self) -> Call:
        return self.sssp()

    def widest_path(self) -> Call:
        matrix, n, source = self.matrix, self.task.data.num_vertices, self.task.data.source

        def widest_path() -> None:
            width = gb.Vector(gb.dtypes.INT32, n)
            width[source] = 2**31 - 1
            frontier = width.dup()
            while frontier.nvals:
                reached = gb.semiring.max_min(frontier @ matrix).new()
                known = gb.binary.gt(reached | width, left_default=-1, right_default=-1).new()
                frontier = reached.dup(mask=known.V)
                width(gb.binary.max) << frontier

        return widest_path

    def pagerank(self) -> Call:
        matrix, n = self.matrix, self.task.data.num_vertices

        def pagerank() -> None:
            degree = matrix.reduce_rowwise(gb.agg.count).new(gb.dtypes.FP32)
            rank = gb.Vector.from_scalar(1.0 / n, n, gb.dtypes.FP32)
            for _ in range(ROUNDS):
                share = gb.binary.truediv(rank & degree).new(gb.dtypes.FP32)
                share << share * DAMPING
                rank << (1.0 - DAMPING) / n
                rank(gb.binary.plus) << gb.semiring.plus_second(matrix @ share)

        return pagerank

    def katz(self) -> Call:
        pattern, n, alpha = self.pattern, self.task.data.num_vertices, self.task.alpha

        def katz() -> None:
            x = gb.Vector.from_scalar(0.0, n, gb.dtypes.FP64)
            change = np.inf
            while change >= n * CONVERGED:
                before, x = x, gb.Vector.from_scalar(1.0, n, gb.dtypes.FP64)
                x(gb.binary.plus) << alpha * gb.semiring.plus_second(pattern @ before).new()
                change = gb.unary.abs(x - before).new().reduce().new().value
            x << x / float(np.sqrt((x * x).new().reduce().new().value))

        return katz

    def eigenvector(self) -> Call:
        pattern, n = self.pattern, self.task.data.num_vertices

        def eigenvector() -> None:
            x = gb.Vector.from_scalar(1.0 / n, n, gb.dtypes.FP64)
            change = np.inf
            while change >= n * CONVERGED:
                before, x = x, x.dup()
                x(gb.binary.plus) << gb.semiring.plus_second(pattern @ before)
                x << x / float(np.sqrt((x * x).new().reduce().new().value))
                change = gb.unary.abs(x - before).new().reduce().new().value

        return eigenvector

    def degree_centrality(self) -> Call:
        pattern, n = self.pattern, self.task.data.num_vertices

        def degree_centrality() -> None:
            degree = pattern.reduce_rowwise(gb.agg.count).new(gb.dtypes.FP64)
            degree << degree / (n - 1)

        return degree_centrality

    def triangles(self) -> Call:
        data, pattern = self.task.data, self.pattern

        def triangles() -> int:
            degree = np.diff(data.row_offsets)
            order = np.argsort(degree, kind="stable")
            sorted_ = pattern[order, order].new() if degree.mean() > 10 else pattern
            lower = sorted_.select("tril").new()
            counted = gb.semiring.plus_pair(lower @ lower.T).new(gb.dtypes.INT64, mask=lower.S)
            return int(counted.reduce_scalar().new().value or 0)

        return triangles

    def local_clustering(self) -> Call:
        pattern = self.pattern

        def local_clustering() -> None:
            arcs = gb.semiring.plus_pair(pattern @ pattern.T).new(gb.dtypes.FP64, mask=pattern.S)
            degree = pattern.reduce_rowwise(gb.agg.count).new(gb.dtypes.FP64)
            pairs = (degree * (degree - 1.0).new()).new()
            gb.binary.truediv(arcs.reduce_rowwise() & pairs).new()

        return local_clustering

    def k_truss(self) -> Call:
        pattern = self.pattern

        def k_truss() -> None:
            left, k = pattern.dup(gb.dtypes.INT64), 3
            while left.nvals:
                before = left.nvals
                support = gb.semiring.plus_pair(left @ left.T).new(gb.dtypes.INT64, mask=left.S)
                left = support.select(">=", k - 2).new()
                if left.nvals == before:
                    k += 1

        return k_truss

    def maximal_independent_set(self) -> Call:
        pattern, n = self.pattern, self.task.data.num_vertices

        def maximal_independent_set() -> None:
            rng = np.random.default_rng(1)
            member = gb.Vector(bool, n)
            left = gb.Vector.from_scalar(True, n)
            while left.nvals:
                lot = gb.Vector.from_dense(rng.random(n)).dup(mask=left.S)
                most = gb.semiring.max_second(pattern @ lot).new(mask=left.S)
                chosen = gb.binary.gt(lot | most, left_default=-1.0, right_default=-1.0).new()
                chosen = chosen.select("==", True).new()
                member(chosen.S) << True
                left(~chosen.S, replace=True) << left
                beside = gb.semiring.any_pair(pattern @ chosen).new()
                left(~beside.S, replace=True) << left

        return maximal_independent_set

    def betweenness(self) -> Call:
        pattern, n, source = self.pattern, self.task.data.num_vertices, self.task.data.source

        def betweenness() -> None:
            """Brandes with all sources in one matrix, a row for each (LAGraph's algorithm)."""
            rows, columns = np.arange(SOURCES), np.full(SOURCES, source)
            paths = gb.Matrix.from_coo(rows, columns, 1.0, nrows=SOURCES, ncols=n)
            frontier = gb.semiring.plus_first(paths @ pattern).new(gb.dtypes.FP64, mask=~paths.S)
            levels = []
            while frontier.nvals:
                levels.append(frontier.dup(bool))
                paths(gb.binary.plus) << frontier
                frontier(~paths.S, replace=True) << gb.semiring.plus_first(frontier @ pattern)
            worth = gb.Matrix.from_scalar(1.0, SOURCES, n, gb.dtypes.FP64)
            for above, below in zip(reversed(levels), reversed([None, *levels[:-1]]), strict=True):
                if below is None:
                    break
                share = gb.binary.truediv(worth & paths).new(mask=above.S)
                gained = gb.semiring.plus_first(share @ pattern).new(mask=below.S)
                worth(gb.binary.plus) << gb.binary.times(gained & paths)

        return betweenness

    def jaccard(self) -> Call:
        pattern, (left, right) = self.pattern, self.task.pairs

        def jaccard() -> None:
            both = gb.binary.pair(pattern[left, :].new() & pattern[right, :].new()).new(gb.dtypes.FP64)
            common = both.reduce_rowwise().new()
            degree = pattern.reduce_rowwise(gb.agg.count).new(gb.dtypes.FP64)
            ends = gb.binary.plus(degree[left].new() | degree[right].new()).new()
            gb.binary.truediv(common & (ends - common).new()).new()

        return jaccard

    def adamic_adar(self) -> Call:
        pattern, (left, right) = self.pattern, self.task.pairs

        def adamic_adar() -> None:
            degree = pattern.reduce_rowwise(gb.agg.count).new(gb.dtypes.FP64)
            worth = gb.unary.minv(gb.unary.log(degree).new()).new()
            both = gb.binary.pair(pattern[left, :].new() & pattern[right, :].new()).new(gb.dtypes.FP64)
            gb.semiring.plus_second(both @ worth).new()

        return adamic_adar

    def spmv(self) -> Call:
        matrix, vector = self.real, gb.Vector.from_dense(self.task.vector)

        def spmv() -> None:
            gb.semiring.plus_times(matrix @ vector).new()

        return spmv

    def conjugate_gradient(self) -> Call:
        rows, columns, values = self.task.definite
        matrix, right = gb.Matrix.from_coo(rows, columns, values), gb.Vector.from_dense(self.task.vector)

        def conjugate_gradient() -> None:
            x = gb.Vector.from_scalar(0.0, right.size, gb.dtypes.FP64)
            residual, direction = right.dup(), right.dup()
            squares = float((residual @ residual).new().value)
            goal = RESIDUAL * RESIDUAL * squares
            while squares > goal:
                image = gb.semiring.plus_times(matrix @ direction).new()
                alpha = squares / float((direction @ image).new().value)
                x(gb.binary.plus) << alpha * direction
                residual(gb.binary.plus) << -alpha * image
                before, squares = squares, float((residual @ residual).new().value)
                direction << (squares / before) * direction
                direction(gb.binary.plus) << residual

        return conjugate_gradient

"""How few bytes an algorithm can move, and how many the machine can.

The models count array traffic over a CSR with 32-bit ids. `floor` assumes a perfect cache for vertex values:
each array crosses memory once per round. `gathers` adds, for each arc walked, the neighbor's value at its own
width: what is moved when no vertex value stays in cache, cache lines not counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import graphs
import numpy as np

ID = 4
LABEL = 4
SMALLEST_COPY = 8 << 20  # below this, handing out the shares costs more than the copy


@dataclass(frozen=True)
class Size:
    """What the models need to know of a graph; `reached` counts what a traversal from the source touches."""

    vertices: int
    arcs: int
    reached_vertices: int
    reached_arcs: int
    offset_bytes: int = 4

    @staticmethod
    def of(data: graphs.GraphData, offset_bytes: int = 4) -> Size:
        """The size of a benchmark graph; what is reached from its source is the source's component."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        n = data.num_vertices
        matrix = csr_array((data.weight, data.column_indices, data.row_offsets), shape=(n, n))
        label = connected_components(matrix, directed=False)[1]
        reached, degree = label == label[data.source], np.diff(data.row_offsets)
        return Size(n, data.num_edges, int(reached.sum()), int(degree[reached].sum()), offset_bytes)

    @property
    def csr_bytes(self) -> int:
        """Offsets, targets and 4-byte weights: the working set that bandwidth is measured for."""
        return self.offset_bytes * (self.vertices + 1) + 2 * ID * self.arcs


@dataclass(frozen=True)
class Traffic:
    """Bytes of one run."""

    floor: int
    gathers: int

    @property
    def total(self) -> int:
        return self.floor + self.gathers


def bfs(size: Size) -> Traffic:
    """Top-down: every reached vertex expanded once; level and parent written, parent tested once per arc.

    Fill level and parent (2 labels per vertex); per reached vertex its two offsets, parent read, parent and
    level written, one queue entry written and read; per reached arc its target.
    """
    per_vertex = 2 * size.offset_bytes + 3 * LABEL + 2 * ID
    floor = 2 * LABEL * size.vertices + per_vertex * size.reached_vertices + ID * size.reached_arcs
    return Traffic(floor, LABEL * size.reached_arcs)


def sssp(size: Size, walked: int | None = None) -> Traffic:
    """Data-driven: `walked` arcs relaxed in all (each reached arc once when None, as Dijkstra does).

    Fill the distances and the in-queue bytes; per reached vertex two offsets, distance read and written, one
    queue entry and one in-queue byte written and read; per walked arc its target and its weight.
    """
    arcs = size.reached_arcs if walked is None else walked
    per_vertex = 2 * size.offset_bytes + 2 * LABEL + 2 * ID + 2
    floor = (LABEL + 1) * size.vertices + per_vertex * size.reached_vertices + 2 * ID * arcs
    return Traffic(floor, LABEL * arcs)


def pagerank(size: Size, rounds: int, rank_bytes: int) -> Traffic:
    """Per round and vertex an offset, old and new rank, contribution written and read; per arc a source."""
    per_vertex = size.offset_bytes + 4 * rank_bytes
    floor = rounds * (per_vertex * size.vertices + ID * size.arcs)
    return Traffic(floor, rounds * rank_bytes * size.arcs)


def components(size: Size, sampled: int = 2) -> Traffic:
    """Pointer jumping with `sampled` neighbors per vertex before the largest component is skipped (Afforest).

    Fill the labels; per sampling round an offset and one neighbor per vertex, labels of both ends, and one
    compression (label read and written); at the end one test per vertex. Arcs outside the largest component
    are left out. A method that reads every arc (Shiloach-Vishkin) moves 4 bytes more per arc and pass.
    """
    per_round = size.offset_bytes + ID + 4 * LABEL
    floor = size.vertices * (LABEL + sampled * per_round + LABEL)
    return Traffic(floor, sampled * LABEL * size.vertices)


def copy_bandwidth(nbytes: int, threads: int, repeats: int = 15) -> float:
    """Bytes per second (reads and writes both counted) of a NumPy copy between two buffers, `nbytes` in all.

    Each thread copies its own contiguous share; the fastest of `repeats` runs counts. Less than
    `SMALLEST_COPY` is measured as that.
    """
    count = max(nbytes, SMALLEST_COPY) // 16
    origin, target = np.ones(count), np.zeros(count)
    cuts = np.linspace(0, count, threads + 1).astype(np.int64)
    shares = [slice(low, high) for low, high in pairwise(cuts)]

    def copy(share: slice) -> None:
        np.copyto(target[share], origin[share])

    with ThreadPoolExecutor(threads) as pool:
        return 2 * origin.nbytes / min(_timed(lambda: list(pool.map(copy, shares))) for _ in range(repeats))


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start

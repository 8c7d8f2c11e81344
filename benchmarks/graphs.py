"""Deterministic benchmark graphs: Kronecker, uniform random and road grid, and the GAP file formats.

Every graph is undirected, simple, and stored in both directions; an edge weighs the same both ways (1..255).
The same arrays go to vgraph (in memory) and to the peers (as a file), so both sides run on one CSR.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

EDGE_FACTOR = 16
MAX_WEIGHT = 255
SEED = 27491095  # the seed of the GAP generators, so that a graph is recognised by it
CHUNK = 1 << 20
FORMAT = 1  # raise it when a generator changes: cached graphs of an older format are not used


@dataclass(frozen=True)
class GraphData:
    """A graph as CSR: each edge of an undirected one is stored once per direction, neighbors ascending.

    `row_offsets` int64 (n + 1), `column_indices` int32 (m), `weight` int32 (m). `source` is a vertex of the
    largest component, drawn with the graph's own seed.
    """

    name: str
    row_offsets: NDArray[np.int64]
    column_indices: NDArray[np.int32]
    weight: NDArray[np.int32]
    source: int

    @property
    def num_vertices(self) -> int:
        return self.row_offsets.size - 1

    @property
    def num_edges(self) -> int:
        """Stored edges, both directions counted."""
        return self.column_indices.size

    def edges(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Sources, targets and weights of all stored edges, in CSR order."""
        ids = np.arange(self.num_vertices, dtype=np.int32)
        return np.repeat(ids, np.diff(self.row_offsets)), self.column_indices, self.weight

    def write_gap(self, path: str | Path) -> None:
        """Write GAP's serialized format: `.sg` without weights, `.wsg` with them.

        Layout (little endian): directed (1 byte), edges and vertices (int64), offsets (int64), then int32
        targets, as (target, weight) pairs in a `.wsg`. An undirected graph has no second half.
        """
        suffix = Path(path).suffix
        if suffix not in (".sg", ".wsg"):
            raise ValueError(f"GAP files end in .sg or .wsg, not {suffix!r}")
        neighbors = self.column_indices
        if suffix == ".wsg":
            neighbors = np.stack((self.column_indices, self.weight), axis=1)
        with open(path, "wb") as file:
            np.zeros(1, np.bool_).tofile(file)
            np.array([self.num_edges, self.num_vertices], np.int64).tofile(file)
            self.row_offsets.tofile(file)
            neighbors.tofile(file)

    def save(self, path: Path) -> None:
        """Write the graph as uncompressed `.npz`; the file appears under its name only when complete."""
        partial = path.with_suffix(".partial.npz")
        np.savez(
            partial,
            name=self.name,
            format=FORMAT,
            source=self.source,
            row_offsets=self.row_offsets,
            column_indices=self.column_indices,
            weight=self.weight,
        )
        partial.replace(path)

    @staticmethod
    def load(path: Path) -> GraphData | None:
        """Read what `save` wrote; None if the file is of another format."""
        with np.load(path) as data:
            if "format" not in data or int(data["format"]) != FORMAT:
                return None
            return GraphData(
                str(data["name"]),
                data["row_offsets"],
                data["column_indices"],
                data["weight"],
                int(data["source"]),
            )


def kron(scale: int, edge_factor: int = EDGE_FACTOR, seed: int = SEED) -> GraphData:
    """Kronecker (R-MAT) graph with A=.57 B=.19 C=.19: 2**scale vertices, permuted ids, duplicates removed."""
    rng = np.random.default_rng(seed)
    n = 1 << scale
    permutation = rng.permutation(n)
    parts = []
    for start in range(0, n * edge_factor, CHUNK):
        count = min(CHUNK, n * edge_factor - start)
        src = np.zeros(count, np.int64)
        dst = np.zeros(count, np.int64)
        for _ in range(scale):
            draw = rng.random(count, dtype=np.float32)
            down = draw > 0.76
            right = (draw > 0.57) & ~down | (draw > 0.95)
            src = (src << 1) + down
            dst = (dst << 1) + right
        parts.append(_pairs(permutation[src], permutation[dst], n))
    return _build(f"kron{scale}", n, np.concatenate(parts), rng)


def uniform(scale: int, edge_factor: int = EDGE_FACTOR, seed: int = SEED) -> GraphData:
    """Uniform random graph: 2**scale vertices, edge_factor * 2**scale draws, duplicates and loops removed."""
    rng = np.random.default_rng(seed)
    n = 1 << scale
    src, dst = rng.integers(0, n, (2, n * edge_factor))
    return _build(f"urand{scale}", n, _pairs(src, dst, n), rng)


def road(rows: int, columns: int, drop: float = 0.1, seed: int = SEED) -> GraphData:
    """Grid of rows x columns vertices joined to their four neighbors, less a fraction `drop`."""
    rng = np.random.default_rng(seed)
    n = rows * columns
    ids = np.arange(n).reshape(rows, columns)
    src = np.concatenate((ids[:, :-1].ravel(), ids[:-1].ravel()))
    dst = np.concatenate((ids[:, 1:].ravel(), ids[1:].ravel()))
    keep = rng.random(src.size) >= drop
    name = "road" if rows == columns == 1000 else f"road{rows}x{columns}"
    return _build(name, n, _pairs(src[keep], dst[keep], n), rng)


def from_pairs(name: str, n: int, src: NDArray[np.int64], dst: NDArray[np.int64]) -> GraphData:
    """The undirected, simple graph of given edges; weights are drawn, as for the others."""
    return _build(name, n, _pairs(src, dst, n), np.random.default_rng(SEED))


def from_arcs(name: str, n: int, src: NDArray[np.int64], dst: NDArray[np.int64]) -> GraphData:
    """The directed graph of given arcs, without loops and parallel arcs; weights are 1, the source is vertex 0."""
    keys = np.unique(src * n + dst)
    src, dst = keys // n, keys % n
    src, dst = src[src != dst], dst[src != dst]
    offsets = np.r_[0, np.cumsum(np.bincount(src, minlength=n))]
    return GraphData(name, offsets, dst.astype(np.int32), np.ones(dst.size, np.int32), 0)


def _pairs(src: NDArray[np.int64], dst: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """One integer per undirected edge, low id first; self-loops are left out."""
    low, high = np.minimum(src, dst), np.maximum(src, dst)
    keys: NDArray[np.int64] = low * n + high
    distinct: NDArray[np.int64] = keys[low != high]
    return distinct


def _build(name: str, n: int, keys: NDArray[np.int64], rng: np.random.Generator) -> GraphData:
    """CSR of both directions from packed pairs; duplicates collapse and every pair draws one weight."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    keys.sort()
    keys = keys[np.concatenate(([True], keys[1:] != keys[:-1]))] if keys.size else keys
    low, high = (keys // n).astype(np.int32), (keys % n).astype(np.int32)
    weight = rng.integers(1, MAX_WEIGHT + 1, keys.size, dtype=np.int32)
    shape = (n, n)
    half = coo_array((weight, (low, high)), shape=shape).tocsr()
    full = (half + half.T).tocsr()
    full.sort_indices()
    component = connected_components(full, directed=False)[1]
    largest = np.flatnonzero(component == np.bincount(component).argmax())
    return GraphData(
        name,
        full.indptr.astype(np.int64),
        full.indices.astype(np.int32, copy=False),
        full.data.astype(np.int32, copy=False),
        int(rng.choice(largest)),
    )


_NAMES: tuple[tuple[str, Callable[[re.Match[str]], GraphData]], ...] = (
    (r"kron(\d+)", lambda match: kron(int(match[1]))),
    (r"urand(\d+)", lambda match: uniform(int(match[1]))),
    (r"road", lambda match: road(1000, 1000)),
    (r"road(\d+)x(\d+)", lambda match: road(int(match[1]), int(match[2]))),
)


def _generate(name: str) -> GraphData:
    for pattern, build in _NAMES:
        if match := re.fullmatch(pattern, name):
            return build(match)
    raise ValueError(f"unknown graph {name!r}; write kronN, urandN, road or roadRxC")


def make(name: str, cache: Path) -> GraphData:
    """The graph called `kron18`, `urand20`, `road` or `road200x300`; folder `cache` keeps it."""
    path = cache / f"{name}.npz"
    if path.exists() and (stored := GraphData.load(path)) is not None:
        return stored
    data = _generate(name)
    cache.mkdir(parents=True, exist_ok=True)
    data.save(path)
    return data


def gap_file(data: GraphData, cache: Path, *, weighted: bool) -> Path:
    """The graph's GAP file in directory `cache`, written on first use."""
    path = cache / f"{data.name}-v{FORMAT}{'.wsg' if weighted else '.sg'}"
    if not path.exists():
        partial = path.with_name("partial-" + path.name)
        data.write_gap(partial)
        partial.replace(path)
    return path

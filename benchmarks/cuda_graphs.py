"""The graphs of the GPU's benchmarks: made where the arrays of `xp` lie, NumPy's or CuPy's, with the same outcome.

All draws are hashes of numbers (splitmix64), so that a graph depends on no library's random numbers. Every graph is
undirected, simple, without loops, and an edge weighs the same in both directions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import vgraph as vg
from vgraph.graph.arrays import final_dtypes
from vgraph.graph.topology import Adjacency, Topology

EDGE_FACTOR = 16
QUADRANTS = (0.57, 0.76, 0.95)  # a, a + b, a + b + c of Graph500
DROP = 0.1  # part of a grid's edges that is taken out
SOURCES = 5
LIGHT, HEAVY = 255, 10_000  # largest weight of a social graph, and of a road network
FILES = {
    "cnr-2000": ("social/cnr-2000.el.xz", LIGHT),
    "ego-Twitter": ("social/ego-Twitter-undirected.el.xz", LIGHT),
    "USA-road-FLA": ("road/USA-road-FLA.pace.gr.xz", HEAVY),
    "world-highways": ("road/world-highways.gr.xz", HEAVY),
    "facebook": ("social/facebook-combined.el.xz", LIGHT),
}


@dataclass(frozen=True)
class Loaded:
    """A graph, vertices of its largest component to start from, and the CPU's answers, kept once asked for."""

    name: str
    graph: vg.Graph
    sources: tuple[int, ...]
    reached_vertices: int
    reached_arcs: int
    answers: dict[Any, Any] = field(default_factory=dict)


def mix(x: Any) -> Any:
    """The finaliser of splitmix64 on uint64: one to one, and every bit of `x` counts for every bit of it."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def draw(xp: Any, first: int, count: int) -> Any:
    """`count` numbers below 2**32, of the stream that begins at `first`."""
    return mix(xp.arange(count, dtype=xp.uint64) + np.uint64(first)) >> np.uint64(32)


def share(part: float) -> np.uint64:
    """The bound below which that part of all draws lies."""
    return np.uint64(int(part * 2**32))


def rmat(xp: Any, scale: int, seed: int = 1) -> tuple[Any, Any, int]:
    """Ends of `EDGE_FACTOR` << scale R-MAT edges, and the number of vertices, whose ids are shuffled."""
    count, n = EDGE_FACTOR << scale, 1 << scale
    a, b, c = (share(q) for q in QUADRANTS)
    src, dst = xp.zeros(count, xp.int64), xp.zeros(count, xp.int64)
    for bit in range(scale):
        r = draw(xp, (seed << 56) + (bit << 40), count)
        src = 2 * src + (r >= b)
        dst = 2 * dst + (((r >= a) & (r < b)) | (r >= c))
    order = xp.argsort(mix(xp.arange(n, dtype=xp.uint64) + np.uint64(seed << 48)))
    return order[src], order[dst], n


def urand(xp: Any, scale: int, seed: int = 1) -> tuple[Any, Any, int]:
    """Ends of `EDGE_FACTOR` << scale edges between vertices drawn alike, and the number of vertices."""
    count, n = EDGE_FACTOR << scale, 1 << scale
    src, dst = (draw(xp, (seed << 56) + (end << 40), count) % np.uint64(n) for end in range(2))
    return src.astype(xp.int64), dst.astype(xp.int64), n


def road(xp: Any, side: int, seed: int = 1) -> tuple[Any, Any, int]:
    """Ends of the edges of a grid of side x side vertices, less a part of `DROP`."""
    ids = xp.arange(side * side, dtype=xp.int64).reshape(side, side)
    src = xp.concatenate([ids[:, :-1].ravel(), ids[:-1].ravel()])
    dst = xp.concatenate([ids[:, 1:].ravel(), ids[1:].ravel()])
    keep = draw(xp, seed << 56, src.size) >= share(DROP)
    return src[keep], dst[keep], side * side


def csr(
    xp: Any, src: Any, dst: Any, n: int, heaviest: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Row offsets (uint32), column indices (uint32) and weights (int32, 1 to `heaviest`), in the host's memory."""
    keep = src != dst
    src, dst = src[keep], dst[keep]
    keys = xp.unique(xp.concatenate([src * n + dst, dst * n + src]))
    src, dst = keys // n, keys % n
    del keys
    pair = (xp.minimum(src, dst) * n + xp.maximum(src, dst)).astype(xp.uint64)
    weight = (mix(pair) % np.uint64(heaviest) + np.uint64(1)).astype(xp.int32)
    offsets = xp.searchsorted(src, xp.arange(n + 1)).astype(xp.uint32)
    found = offsets, dst.astype(xp.uint32), weight
    offsets, columns, weight = (x if xp is np else x.get() for x in found)
    return offsets, columns, weight


def _edges_of(path: Path) -> tuple[NDArray[Any], NDArray[Any], int]:
    graph = vg.read(path)
    degrees = np.diff(graph.out.row_offsets.astype(np.int64))
    src = np.repeat(np.arange(graph.num_vertices, dtype=np.int64), degrees)
    return src, graph.out.column_indices.astype(np.int64), graph.num_vertices


def arrays(name: str, xp: Any, data: Path | None = None) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Offsets, columns and weights of `rmat22`, `urand22`, `road2048` (a grid's side), or of a name of `FILES`, which
    lie in `data`."""
    if match := re.fullmatch(r"(rmat|urand)(\d+)", name):
        edges, heaviest = (rmat if match[1] == "rmat" else urand)(xp, int(match[2])), LIGHT
    elif match := re.fullmatch(r"road(\d+)", name):
        edges, heaviest = road(xp, int(match[1])), HEAVY
    elif name in FILES:
        if data is None:
            raise SystemExit(f"{name} is read from a file: --data DIR")
        path, heaviest = FILES[name]
        edges = _edges_of(data / path)
        xp = np
    else:
        raise SystemExit(f"no graph {name!r}: rmatN, urandN, roadN, {', '.join(FILES)}")
    return csr(xp, *edges, heaviest)


def make(name: str, xp: Any, data: Path | None = None) -> Loaded:
    """The graph of a name of `arrays`."""
    return loaded(name, *arrays(name, xp, data))


def loaded(name: str, offsets: NDArray[Any], columns: NDArray[Any], weight: NDArray[Any]) -> Loaded:
    """The graph of these arrays, which are a graph's as they are, and nobody else's: to look once more would take
    longer than all that is measured."""
    offsets, columns = final_dtypes(offsets, columns, offsets.size - 1, None)
    topology = Topology(Adjacency(offsets, columns), columns.size // 2, False)
    return _loaded(name, vg.Graph(topology, {"weight": weight}, {}))


def _loaded(name: str, graph: vg.Graph) -> Loaded:
    component = np.asarray(vg.run(vg.algorithms.connected_components, graph, device="cpu").component)
    names, sizes = np.unique(component, return_counts=True)
    inside = np.flatnonzero(component == names[np.argmax(sizes)])
    places = draw(np, 77, SOURCES) % np.uint64(inside.size)
    arcs = int(graph.out_degree[inside].sum(dtype=np.int64))
    return Loaded(name, graph, tuple(int(v) for v in inside[places]), int(inside.size), arcs)

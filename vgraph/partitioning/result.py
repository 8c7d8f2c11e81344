"""A partition of the vertices: the parts, and all that is measured of them."""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vgraph.graph import Graph
from vgraph.graph.arrays import sealed
from vgraph.graph.build import sources_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LevelStats(NamedTuple):
    """One level of a multilevel run: sizes, the cut after refinement, and seconds."""

    vertices: int
    arcs: int
    heaviest: int
    cut: int
    rounds: int
    coarsen_seconds: float
    refine_seconds: float


class Balance(float):
    """The heaviest part over the mean of all, in the weights that were asked for; 1 is even.

    `vertices` and `arcs` are the same in numbers of vertices, and of arcs that leave them.
    """

    vertices: float
    arcs: float

    def __new__(cls, weights: float, vertices: float, arcs: float) -> Balance:
        made = super().__new__(cls, weights)
        made.vertices, made.arcs = vertices, arcs
        return made

    def __getnewargs__(self) -> tuple[float, float, float]:  # type: ignore[override]
        """What a copy is made of."""
        return float(self), self.vertices, self.arcs

    def __repr__(self) -> str:
        return f"{float(self):.4f} (vertices {self.vertices:.4f}, arcs {self.arcs:.4f})"


@dataclass(frozen=True, eq=False, repr=False)
class Partition:
    """The vertices of a graph in k parts.

    `parts`: int32[num_vertices], from 0 to k - 1. `limit`: how heavy a part was allowed to be. `levels`: of a
    multilevel method, the finest first. Everything else is counted when it is asked for, on the graph as it was given;
    edges weigh what `edge_weight` says, loops are never cut.
    """

    graph: Graph
    parts: NDArray[np.int32]
    k: int
    method: str
    seed: int
    limit: int
    seconds: float
    levels: tuple[LevelStats, ...]
    vertex_weights: NDArray[Any]
    edge_weights: NDArray[Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", sealed(self.parts))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, f.name) for f in fields(self))

    @functools.cached_property
    def _across(self) -> NDArray[np.bool_]:
        """Which arcs lead to another part."""
        offsets, columns = self.graph.out.row_offsets, self.graph.out.column_indices
        found: NDArray[np.bool_] = self.parts[sources_of(offsets, columns.dtype)] != self.parts[columns]
        return found

    @functools.cached_property
    def cut(self) -> int:
        """The weight of the edges between parts: undirected ones once, directed ones each."""
        total = int(self.edge_weights[self._across].sum())
        return total if self.graph.directed else total // 2

    @functools.cached_property
    def weights(self) -> NDArray[np.int64]:
        """What each part weighs, int64[k]."""
        return np.bincount(self.parts, self.vertex_weights, self.k).astype(np.int64)

    @functools.cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many vertices each part has, int64[k]."""
        return np.bincount(self.parts, minlength=self.k)

    @functools.cached_property
    def balance(self) -> Balance:
        """The heaviest part over the mean; also in vertices and arcs."""
        arcs = np.bincount(self.parts, self.graph.out_degree, self.k)
        return Balance(*(_over_mean(x) for x in (self.weights, self.sizes, arcs)))

    @functools.cached_property
    def _sent(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Vertex and other part, once for each part that a vertex has a neighbor in, over arcs of either direction."""
        offsets, columns = self.graph.out.row_offsets, self.graph.out.column_indices
        sources = sources_of(offsets, columns.dtype)[self._across].astype(np.int64)
        targets = columns[self._across].astype(np.int64)
        keys = sources * self.k + self.parts[targets]
        if self.graph.directed:
            keys = np.r_[keys, targets * self.k + self.parts[sources]]
        keys = np.unique(keys)
        return keys // self.k, keys % self.k

    @functools.cached_property
    def volume(self) -> int:
        """Communication volume: how many values are sent if each vertex tells its own to all parts around it."""
        return int(self._sent[0].size)

    @functools.cached_property
    def boundary(self) -> NDArray[np.int64]:
        """The vertices that have a neighbor in another part, ascending."""
        return np.unique(self._sent[0])

    def figures(self) -> dict[str, Any]:
        """What is measured, as plain numbers by name."""
        return {
            "k": self.k,
            "method": self.method,
            "cut": self.cut,
            "balance": float(self.balance),
            "balance_vertices": self.balance.vertices,
            "balance_arcs": self.balance.arcs,
            "volume": self.volume,
            "boundary": int(self.boundary.size),
            "seconds": self.seconds,
            "levels": [level._asdict() for level in self.levels],
        }

    def summary(self) -> str:
        """The figures in a few lines."""
        shares = self.balance
        return "\n".join(
            (
                f"{self.k} parts by {self.method} in {self.seconds:.3g} s",
                f"cut         {self.cut:,}",
                f"balance     {float(shares):.4f} (vertices {shares.vertices:.4f}, arcs {shares.arcs:.4f})",
                f"volume      {self.volume:,}",
                f"boundary    {self.boundary.size:,} vertices",
            )
        )

    def plot(self, target: str | Path | Axes | None = None, **options: Any) -> Axes:
        """Draw the graph, which needs coordinates, with a colour for each part; options of `vgraph.plot.vertices`."""
        from vgraph.plot import vertices

        options.setdefault("title", f"{self.k} parts by {self.method}: {self.cut:,} cut")
        options.setdefault("cmap", "tab20" if self.k > 10 else "tab10")
        return vertices(self.graph, self.parts, target, label="part", **options)

    def __repr__(self) -> str:
        figures = f"k={self.k}, cut={self.cut}, balance={float(self.balance):.4f}"
        return f"<Partition of {self.graph!r} by {self.method}: {figures}>"


def _over_mean(values: NDArray[Any]) -> float:
    total = float(values.sum())
    return float(values.max()) * values.size / total if total else 1.0

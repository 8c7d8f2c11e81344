"""The best peer of each cell: those measured beside vgraph, and others by their ratio to GAP.

`TO_GAP` holds times of systems that are not run here, over GAP's on the same machine and graph: 2 cores, 2 threads,
medians (GraphIt, GBBS, Galois, Ligra and LAGraph at their best schedules; betweenness from 4 sources, PageRank of 20
rounds, SSSP with delta 16, 512 on road). With one thread the same ratio is assumed, with more than two none. Cells that
are not named have none that is faster than GAP. k-core has no GAP: its peers are all measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

TO_GAP: dict[tuple[str, str], dict[str, float]] = {
    ("sssp", "kron18"): {"GraphIt": 34.6 / 38.6},
    ("sssp", "kron20"): {"GBBS wBFS": 236 / 329, "GraphIt": 289 / 329},
    ("sssp", "urand20"): {"GraphIt": 317 / 342},
    ("sssp", "road"): {"GraphIt": 37.6 / 39.2},
    ("pagerank", "kron18"): {"LAGraph": 62.9 / 68.9},
    ("pagerank", "kron20"): {"GraphIt with segments": 445 / 699, "GraphBLAS": 625 / 699},
    ("pagerank", "urand20"): {"GraphIt with segments": 804 / 1010},
    ("cc", "road"): {"GBBS": 7.85 / 9.16},
    ("triangles", "road"): {"Galois": 5 / 6.1},
    ("betweenness", "kron18"): {"Ligra": 68 / 180},
    ("betweenness", "kron20"): {"GraphIt": 359 / 891},
    ("betweenness", "urand20"): {"GraphIt": 748 / 2020},
    ("betweenness", "road"): {"Ligra": 180 / 220},
}
CASES = {
    "bfs": "bfs",
    "sssp": "sssp",
    "pagerank 32-bit": "pagerank",
    "pagerank 64-bit": "pagerank 64-bit",
    "cc": "cc",
    "triangles": "triangles",
    "betweenness": "betweenness",
    "kcore": "kcore",
}
"""What each case is called as a cell; PageRank is two, beside a peer with ranks of as many bits."""


class Cell(NamedTuple):
    """One algorithm on one graph: vgraph's time over that of the best peer."""

    algorithm: str
    graph: str
    threads: int
    ms: float
    best: str
    best_ms: float
    measured: bool

    @property
    def ratio(self) -> float:
        return self.ms / self.best_ms


def cell(row: Mapping[str, Any]) -> Cell | None:
    """The cell of one row of `cpu.json`; None if its case is not the algorithm's, or it has no peer."""
    algorithm = CASES.get(row["case"])
    measured = {peer["label"]: peer["ms"] for peer in row["peers"]}
    if algorithm is None or not measured:
        return None
    gap = min((ms for label, ms in measured.items() if label.startswith("GAP")), default=None)
    others = {} if gap is None or row["threads"] > 2 else TO_GAP.get((algorithm, row["graph"]), {})
    by_ratio = {f"{name} (by GAP)": gap * ratio for name, ratio in others.items() if gap is not None}
    best, ms = min((measured | by_ratio).items(), key=lambda item: item[1])
    return Cell(algorithm, row["graph"], row["threads"], row["ms"], best, ms, best in measured)


def cells(rows: Sequence[Mapping[str, Any]]) -> list[Cell]:
    """The cells of all rows, in their order."""
    return [found for row in rows if (found := cell(row)) is not None]


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean of positive numbers."""
    return math.exp(sum(map(math.log, values)) / len(values))


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """Geometric mean and maximum of the ratios, in one sentence."""
    found = cells(rows)
    if not found:
        return "No cell has a peer."
    worst = max(found, key=lambda c: c.ratio)
    mean = geometric_mean([c.ratio for c in found])
    where = f"{worst.algorithm} on {worst.graph}, {worst.threads} threads, against {worst.best}"
    return f"Geometric mean {mean:.2f} over {len(found)} cells, maximum {worst.ratio:.2f} ({where})."

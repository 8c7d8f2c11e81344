"""Sets of devices: searches and PageRank on one group of threads and on two, and loops that policies divide.

    python benchmarks/devices.py [--scale 14] [--side 512] [--runs 7] [--parts placed divided]

Seconds are those inside native code, the least of so many runs that take turns. What policies do is measured on
betweenness from so many sources by two members of one thread, of which the second is slowed: as shares of the best
fixed ratio of eleven (`of_oracle`). The tables of docs/devices.md are written from the results.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from graphs import make, road
from harness import RESULTS, first_in_line, table, write_results

import vgraph as vg
from vgraph import algorithms, sharing
from vgraph.runtime.devices.groups import CPUGroup

POLICIES = {n: p for n, p in vars(sharing).items() if isinstance(p, sharing.Policy) and n != "ORACLE"}
ONE = vg.cpu(threads=1)


@dataclass(frozen=True)
class Placed:
    """A program on a graph: seconds by who runs it."""

    case: str
    graph: str
    seconds: dict[str, float]


@dataclass(frozen=True)
class Divided:
    """A policy on a graph: seconds of a run, how near to the best fixed ratio, and the first member's iterations."""

    policy: str
    graph: str
    slowed: float
    sources: int
    seconds: float
    of_oracle: float
    first: int


def load(name: str, side: int, cache: Path) -> vg.Graph:
    """A graph by its name, with weights from 1 to 255."""
    stored = make(name, cache) if name.startswith("kron") else road(side, side, drop=0.0)
    ends = np.repeat(np.arange(len(stored.row_offsets) - 1), np.diff(stored.row_offsets))
    weight = (ends + stored.column_indices.astype(np.int64)) * 40503 % 255 + 1
    return vg.Graph.from_csr(stored.row_offsets, stored.column_indices, directed=False, weight=weight)


def least(sides: dict[str, dict[str, Any]], algorithm: Any, graph: vg.Graph, runs: int) -> dict[str, float]:
    """The least seconds of each side, in turns."""
    found = dict.fromkeys(sides, float("inf"))
    for _ in range(runs + 1):
        for side, given in sides.items():
            taken = vg.run(algorithm, graph, **given).stats.run_seconds
            found[side] = min(found[side], taken)
    return {side: round(seconds, 6) for side, seconds in found.items()}


def placed(name: str, graph: vg.Graph, runs: int) -> list[Placed]:
    """Programs on groups with memories of their own."""
    rows = []
    source = {"source": int(np.argmax(graph.out_degree))}
    delayed = vg.Schedule().at("relax", exchange=vg.DELAYED)
    for case, given in (
        ("bfs", source),
        ("sssp", source),
        ("pagerank", {"max_rounds": 10, "tolerance": 0.0}),
        ("label_components", {}),
    ):
        sides: dict[str, dict[str, Any]] = {
            "one thread": {"threads": 1},
            "one group of 2": {"threads": 2},
            "two groups of 1": {"device": [ONE, ONE]},
        }
        if case == "sssp":
            sides["two groups, DELAYED"] = {"device": [ONE, ONE], "schedule": delayed}
        sides = {side: {**given, **more} for side, more in sides.items()}
        rows.append(Placed(case, name, least(sides, getattr(algorithms, case), graph, runs)))
    return rows


def divided(name: str, graph: vg.Graph, sources: int, slowed: float, runs: int) -> list[Divided]:
    """Policies on betweenness."""
    devices = [ONE, CPUGroup(1, slowed=slowed)]
    given = {"sources": np.random.default_rng(4).integers(0, graph.num_vertices, sources), "device": devices}
    shares = {f"oracle {k}": vg.fixed_ratio(k, 10 - k) for k in range(11)} | dict(POLICIES)
    taken: dict[str, float] = dict.fromkeys(shares, float("inf"))
    first = dict.fromkeys(shares, 0)
    for _ in range(runs + 1):
        for policy, share in shares.items():
            stats = vg.run(algorithms.betweenness, graph, share=share, **given).stats
            if stats.run_seconds < taken[policy]:
                taken[policy], first[policy] = stats.run_seconds, stats.members[0].iterations
    best = min((k for k in shares if k.startswith("oracle")), key=taken.__getitem__)
    rows = [(policy, policy) for policy in POLICIES] + [("ORACLE", best)]
    return [
        Divided(shown, name, slowed, sources, round(taken[k], 6), round(taken[best] / taken[k], 3), first[k])
        for shown, k in rows
    ]


def tables(found: dict[str, Any]) -> dict[str, str]:
    """The tables of a result file, by name."""
    placed_rows = [r for r in found["rows"] if "case" in r]
    sides = list(dict.fromkeys(side for r in placed_rows for side in r["seconds"]))
    ms = [
        [
            f"{r['case']}, {r['graph']}",
            *(f"{r['seconds'][s] * 1e3:.1f}" if s in r["seconds"] else "" for s in sides),
        ]
        for r in placed_rows
    ]
    by = [
        [f"`{r['policy']}`", f"{r['seconds'] * 1e3:.0f}", f"{r['of_oracle']:.2f}", str(r["first"])]
        for r in found["rows"]
        if "policy" in r
    ]
    return {
        "placed": table(["ms", *sides], ms),
        "divided": table(["policy", "ms", "of the best ratio", "iterations of the first"], by),
    }


def into_docs(found: dict[str, Any], page: Path) -> None:
    """Put the tables between their marks."""
    text = page.read_text()
    for name, shown in tables(found).items():
        text = re.sub(
            rf"(<!-- {name} -->\n).*?(<!-- end -->)", rf"\g<1>{shown}\n\g<2>", text, flags=re.DOTALL
        )
    page.write_text(text)


def main() -> None:
    """Measure, write `results/devices.json` and the tables of the docs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=int, default=14)
    parser.add_argument("--side", type=int, default=512)
    parser.add_argument("--sources", type=int, default=64)
    parser.add_argument("--slowed", type=float, default=3.0)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--parts", nargs="+", default=["placed", "divided"])
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "vgraph-bench")
    parser.add_argument("--docs", type=Path, default=Path(__file__).parents[1] / "docs" / "devices.md")
    parser.add_argument("--out", type=Path, default=RESULTS / "devices.json")
    args = parser.parse_args()
    preferred = first_in_line()
    rows: list[Any] = []
    for name in (f"kron{args.scale}", f"grid{args.side}"):
        graph = load(name, args.side, args.cache)
        if "placed" in args.parts:
            rows += placed(name, graph, args.runs)
        if "divided" in args.parts and name.startswith("kron"):
            rows += divided(name, graph, args.sources, args.slowed, args.runs)
    write_results(args.out, rows, preferred=preferred)
    into_docs(json.loads(args.out.read_text()), args.docs)


if __name__ == "__main__":
    main()

"""Sets of devices: searches and PageRank on one group of threads and on two, and loops that policies divide.

    python benchmarks/devices.py [--scale 14] [--side 512] [--runs 7] [--parts placed divided]
    python benchmarks/devices.py --parts beside --graphs rmat18 road1024 [--data DIR] --runs 3   # with a GPU

Seconds are those inside native code, the least of so many runs that take turns. What policies do is measured on
betweenness from so many sources by two members of one thread, of which the second is slowed: as shares of the best
fixed ratio of eleven (`of_oracle`). `beside` does the same with
all CPUs and a GPU, on loops over as many sources as the faster of the two does in about `--seconds`, and has a result
file of its own. The tables of docs/devices.md are written from the results.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cuda_graphs
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


@dataclass(frozen=True)
class Beside:
    """A policy, or one device, in a loop over sources: as `Divided`; `first`: the CPU's part of the sources."""

    algorithm: str
    side: str
    graph: str
    sources: int
    seconds: float
    of_oracle: float
    first: float


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


SOURCES = {
    "betweenness": "sources",
    "weighted_betweenness": "sources",
    "closeness": "vertices",
    "eccentricity": "vertices",
    "harmonic_centrality": "vertices",
    "weighted_closeness": "vertices",
}
BATCH = 64
"""Sources of an iteration, where the bits of a word stand for some."""


def uneven(xp: Any) -> vg.Graph:
    """Half a road network, half hubs, with few edges between."""
    parts = [cuda_graphs.road(xp, 512), cuda_graphs.rmat(xp, 16)]
    (src, dst, n), (more, other, m) = parts
    between = xp.arange(64, dtype=xp.int64)
    ends = [
        xp.concatenate(x)
        for x in ((src, more + n, between * (n // 64)), (dst, other + n, n + between * (m // 64)))
    ]
    offsets, columns, weight = cuda_graphs.csr(xp, *ends, n + m, cuda_graphs.LIGHT)
    return vg.Graph.from_csr(offsets, columns, directed=False, weight=weight)


def beside(name: str, graph: vg.Graph, chosen: list[str], seconds: float, runs: int) -> list[Beside]:
    """Loops over sources on all CPUs and a GPU: each alone, the eleven ratios, every policy."""
    rows = []
    for case in chosen:
        algorithm, what = getattr(algorithms, case), SOURCES[case]
        least = BATCH if what == "vertices" and "weighted" not in case else 1
        rng, pair = np.random.default_rng(4), ["cpu", "cuda"]
        alone: dict[str, dict[str, Any]] = {"cpu": {"device": "cpu"}, "cuda": {"device": "cuda"}}
        for more in (*alone.values(), {"device": pair, "share": vg.GREEDY}):
            vg.prepare(algorithm, graph, **more)
        count = 16
        for _ in range(3):
            given = {what: rng.integers(0, graph.num_vertices, count * least)}
            for one in alone.values():
                vg.run(algorithm, graph, **one, **given)
            once = min(vg.run(algorithm, graph, **one, **given).stats.run_seconds for one in alone.values())
            if once > seconds / 4:
                break
            count = int(min(2048, max(16, count * seconds / once / 2)))
        count = int(min(2048, max(16, count * seconds / once)))
        given = {what: rng.integers(0, graph.num_vertices, count * least)}
        sides = dict(alone)
        sides |= {f"oracle {k}": {"device": pair, "share": vg.fixed_ratio(k, 10 - k)} for k in range(11)}
        sides |= {p: {"device": pair, "share": share} for p, share in POLICIES.items()}
        taken, first = dict.fromkeys(sides, float("inf")), dict.fromkeys(sides, 0.0)
        for _ in range(runs):
            for side, more in sides.items():
                stats = vg.run(algorithm, graph, **more, **given).stats
                if stats.run_seconds < taken[side]:
                    taken[side] = stats.run_seconds
                    all_of = sum(m.iterations for m in stats.members)
                    first[side] = stats.members[0].iterations / all_of if all_of else float(side == "cpu")
        best = min((k for k in sides if k.startswith("oracle")), key=taken.__getitem__)
        rows += [
            Beside(
                case, "ORACLE" if side == best else side, name, count * least, round(taken[side], 6),
                round(taken[best] / taken[side], 3), round(first[side], 3),
            )
            for side in sides
        ]  # fmt: skip
        print(case, name, count, {s: (round(taken[s], 4), round(first[s], 2)) for s in sides}, flush=True)
    return rows


def of_beside(rows: list[dict[str, Any]]) -> str:
    """Shares of the best ratio, by policy and case; and their geometric means."""
    cases = list(dict.fromkeys((r["algorithm"], r["graph"]) for r in rows))
    sides = ["cpu", "cuda", *POLICIES]
    found = {(r["algorithm"], r["graph"], r["side"]): r for r in rows}
    lines = []
    for side in [*sides, "ORACLE"]:
        mine = [found[*case, side] for case in cases]
        mean = float(np.exp(np.mean([np.log(r["of_oracle"]) for r in mine])))
        shown = [
            f"{r['seconds'] * 1e3:.0f} ms" if side == "ORACLE" else f"{r['of_oracle']:.2f}" for r in mine
        ]
        lines.append([f"`{side}`" if side.isupper() else f"{side} alone", *shown, f"{mean:.3f}"])
    shown = [f"{found[*case, 'ORACLE']['first']:.0%}" for case in cases]
    lines.append(["of which the CPU has", *shown, ""])
    return table(["share of the best ratio", *(f"{a}, {g}" for a, g in cases), "mean"], lines)


def tables(found: dict[str, Any]) -> dict[str, str]:
    """The tables of a result file, by name."""
    if "algorithm" in found["rows"][0]:
        return {"beside": of_beside(found["rows"])}
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
    parser.add_argument("--graphs", nargs="+", default=["rmat18", "rmat20", "road1024", "cnr-2000", "uneven"])
    parser.add_argument(
        "--algorithms", nargs="+", default=["betweenness", "closeness"], choices=list(SOURCES)
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "vgraph-bench")
    parser.add_argument("--docs", type=Path, default=Path(__file__).parents[1] / "docs" / "devices.md")
    parser.add_argument("--out", type=Path, default=RESULTS / "devices.json")
    args = parser.parse_args()
    preferred = first_in_line()
    rows: list[Any] = []
    if "beside" in args.parts:
        import cupy

        for name in args.graphs:
            graph = uneven(cupy) if name == "uneven" else cuda_graphs.make(name, cupy, args.data).graph
            rows += beside(name, graph, args.algorithms, args.seconds, args.runs)
            write_results(args.out, rows, preferred=preferred)
        into_docs(json.loads(args.out.read_text()), args.docs)
        return
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

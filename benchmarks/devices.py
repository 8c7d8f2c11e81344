"""Sets of devices, on a machine of many cores with or without a GPU; the tables of docs/devices.md.

    python benchmarks/devices.py --parts auto beside unequal ... [--data DIR] [--seconds 90] --out devices.json
    python benchmarks/devices.py --merge devices.json       # into results/devices.json and the docs

`beside`: a loop over sources, divided by each policy between CPU and GPU, `unequal` between two groups of threads; as
shares of the best fixed ratio of eleven. `ratios`: programs without such a loop, whose vertices are divided. `auto`:
what `device="auto"` takes in all beside each device alone. `cuts`: hubs that all have, by how many times the average
degree; `volume`: what goes over of a round; `buckets`: shortest paths by priority; `dealt`: blocks of a matrix.

Seconds are those inside native code, `auto`'s those of the call, the least or the median of runs that take turns. Parts
that are not begun when the time is over are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cuda_graphs
import numpy as np
from harness import RESULTS, first_in_line, table, write_results

import vgraph as vg
from vgraph import algorithms, sharing
from vgraph.graph import placement

POLICIES = {n: p for n, p in vars(sharing).items() if isinstance(p, sharing.Policy) and n != "ORACLE"}
RATIOS = {f"oracle {k}": vg.fixed_ratio(k, 10 - k) for k in range(11)}
Row = dict[str, Any]
Sides = Mapping[str, Mapping[str, Any]]
SOURCES = {
    "betweenness": "sources",
    "weighted_betweenness": "sources",
    "closeness": "vertices",
    "eccentricity": "vertices",
    "harmonic_centrality": "vertices",
    "weighted_closeness": "vertices",
}
"""Loops over sources, and the parameter with these."""
BATCH = 64
"""Sources of an iteration, where the bits of a word stand for some."""


class Bench:
    """What is measured with, and the rows so far."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.rows = options, list[Row]()
        self.end = self.last = time.monotonic() + options.seconds
        self.preferred = first_in_line()
        self._graphs: dict[str, Any] = {}
        cores = sorted(os.sched_getaffinity(0))
        quarter = max(1, len(cores) // 4)
        self.cores = cores
        self.unequal = [vg.cpu(cores=cores[:quarter]), vg.cpu(cores=cores[quarter:] or cores)]

    def late(self) -> bool:
        """Whether the time of the part is over, or all."""
        return time.monotonic() > self.end

    def graph(self, name: str) -> Any:
        """A graph by its name, with vertices to start from."""
        if name not in self._graphs:
            xp: Any = np
            if self.options.gpu:
                import cupy as xp
            if name == "uneven":
                found = cuda_graphs._loaded(name, uneven(xp))
            else:
                found = cuda_graphs.make(name, xp, self.options.data)
            self._graphs[name] = found
        return self._graphs[name]

    def add(self, **row: Any) -> None:
        """A row, which is saved at once."""
        self.rows.append(row)
        print({k: round(v, 5) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
        write_results(self.options.out, self.rows, preferred=self.preferred)

    def turns(
        self, algorithm: Any, graph: vg.Graph, sides: Sides, given: Mapping[str, Any], seconds: float
    ) -> tuple[dict[str, list[float]], dict[str, Any]]:
        """Native seconds of each side, in turns for about so long, three turns at least; and the shortest run."""
        taken: dict[str, list[float]] = {side: [] for side in sides}
        best: dict[str, Any] = {}
        for more in sides.values():
            vg.run(algorithm, graph, **given, **more)
        begin, turns = time.monotonic(), 0
        while turns < 3 or (turns < 15 and time.monotonic() - begin < seconds):
            for side, more in sides.items():
                found = vg.run(algorithm, graph, **given, **more)
                if side not in best or found.stats.run_seconds < min(taken[side]):
                    best[side] = found
                taken[side].append(found.stats.run_seconds)
            turns += 1
        return taken, best


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


# --- who gets how much ---------------------------------------------------------------------------------------------


def _policies(bench: Bench, part: str, name: str, case: str, pair: list[Any], alone: Sides) -> None:
    """A loop over sources: each device alone, the eleven ratios, every policy."""
    algorithm, what = getattr(algorithms, case), SOURCES[case]
    graph, each = bench.graph(name).graph, BATCH if what == "vertices" and "weighted" not in case else 1
    rng, wanted, count = np.random.default_rng(4), bench.options.loop, 16
    for _ in range(3):
        given = {what: rng.integers(0, graph.num_vertices, count * each)}
        taken, _ = bench.turns(algorithm, graph, alone, given, 0.0)
        once = min(min(x) for x in taken.values())
        if once > wanted / 2:
            break
        count = int(min(2048, max(16, count * wanted / once)))
    given = {what: rng.integers(0, graph.num_vertices, count * each)}
    sides = {**alone, **{s: {"device": pair, "share": p} for s, p in {**RATIOS, **POLICIES}.items()}}
    _shares(bench, part, name, case, count * each, sides, bench.turns(algorithm, graph, sides, given, 0.0))


def _shares(
    bench: Bench, part: str, name: str, case: str, sources: int, sides: Sides, measured: tuple[Any, Any]
) -> None:
    taken, shortest = measured
    least = {side: statistics.median(x) for side, x in taken.items()}
    best = min((k for k in sides if k.startswith("oracle")), key=least.__getitem__)
    for side in sides:
        parts = shortest[side].stats.members
        work = [m.iterations for m in parts]
        work = work if any(work) else [m.vertices for m in parts]
        first = work[0] / max(1, sum(work)) if parts else float(list(sides).index(side) == 0)
        bench.add(
            part=part, algorithm=case, graph=name, side="ORACLE" if side == best else side, sources=sources,
            seconds=least[side], of_oracle=least[best] / least[side], first=first,
        )  # fmt: skip


def beside(bench: Bench) -> None:
    """Loops over sources on all CPUs and a GPU."""
    alone: Sides = {"cpu": {"device": "cpu"}, "cuda": {"device": "cuda"}}
    for name in bench.options.graphs or ["cnr-2000", "uneven", "road512"]:
        for case in bench.options.algorithms or ["betweenness", "closeness"]:
            if not bench.late():
                _policies(bench, "beside", name, case, ["cpu", "cuda"], alone)


def unequal(bench: Bench) -> None:
    """The same on a quarter of all cores and the others."""
    few, many = bench.unequal
    alone: Sides = {
        "few": {"device": [few]},
        "many": {"device": [many]},
        "all": {"device": "cpu"},
    }
    for name in bench.options.graphs or ["rmat16", "cnr-2000", "uneven"]:
        for case in bench.options.algorithms or ["betweenness", "closeness"]:
            if not bench.late():
                _policies(bench, "unequal", name, case, [few, many], alone)


PLACED: dict[str, Callable[[Any], dict[str, Any]]] = {
    "pagerank": lambda _: {"max_rounds": 10, "tolerance": 0.0},
    "sssp": lambda loaded: {"source": loaded.sources[0]},
    "triangle_count": lambda _: {},
}


def ratios(bench: Bench) -> None:
    """Programs whose vertices are divided: every ratio, and the policy that learns from run to run."""
    few, many = bench.unequal
    pair: list[Any] = ["cpu", "cuda"] if bench.options.gpu else [few, many]
    alone: dict[str, dict[str, Any]] = (
        {"cpu": {"device": "cpu"}, "cuda": {"device": "cuda"}}
        if bench.options.gpu
        else {"few": {"device": [few]}, "many": {"device": [many]}, "all": {"device": "cpu"}}
    )
    where = "ratios beside" if bench.options.gpu else "ratios"
    for name in bench.options.graphs or ["rmat18", "uneven"]:
        loaded = bench.graph(name)
        for case, given in PLACED.items():
            if bench.late():
                return
            learnt = {"device": pair, "share": vg.SAMPLE_WEIGHTED}
            for _ in range(6):
                vg.run(getattr(algorithms, case), loaded.graph, **given(loaded), **learnt)
            sides = {
                **alone,
                "NONE": {"device": pair},
                **{s: {"device": pair, "share": p} for s, p in RATIOS.items()},
                "SAMPLE_WEIGHTED": learnt,
            }
            measured = bench.turns(getattr(algorithms, case), loaded.graph, sides, given(loaded), 0.0)
            _shares(bench, where, name, case, 0, sides, measured)


def auto(bench: Bench) -> None:
    """Seconds of whole calls: on each device alone, and where vgraph chooses, when it has tried all."""
    some: dict[str, Callable[[Any], dict[str, Any]]] = {
        "bfs": lambda loaded: {"source": loaded.sources[0]},
        "connected_components": lambda _: {},
        **PLACED,
        "betweenness": lambda loaded: {"sources": np.arange(64) * 97 % loaded.graph.num_vertices},
        "closeness": lambda loaded: {"vertices": np.arange(256) * 97 % loaded.graph.num_vertices},
        "k_core": lambda _: {},
    }
    for name in bench.options.graphs or ["rmat14", "rmat18", "road512", "cnr-2000", "uneven"]:
        loaded = bench.graph(name)
        for case, of in some.items():
            if bench.late():
                return
            algorithm, given = getattr(algorithms, case), of(loaded)
            for _ in range(8):
                vg.run(algorithm, loaded.graph, device="auto", **given)
            sides = ("cpu", "auto", "cuda")
            taken: dict[str, list[float]] = {side: [] for side in sides}
            begin, chosen = time.monotonic(), []
            while len(chosen) < 5 or (len(chosen) < 41 and time.monotonic() - begin < 0.7):
                for side in sides if len(chosen) % 2 else sides[::-1]:
                    vg.run(
                        algorithm, loaded.graph, device=side, **given
                    )  # so that none is behind one of another kind
                    start = time.perf_counter()
                    stats = vg.run(algorithm, loaded.graph, device=side, **given).stats
                    taken[side].append(time.perf_counter() - start)
                    if side == "auto":
                        chosen.append("both" if stats.members else stats.device.partition(":")[0])
            times = {side: statistics.median(x) for side, x in taken.items()}
            bench.add(
                part="auto", algorithm=case, graph=name, **times, runs=len(chosen),
                chosen=max(set(chosen), key=chosen.count), behind=times["auto"] / min(times["cpu"], times["cuda"]),
            )  # fmt: skip


# --- what goes over ------------------------------------------------------------------------------------------------


def _exchanged(bench: Bench, part: str, name: str, case: str, sides: Sides, given: Mapping[str, Any]) -> None:
    graph = bench.graph(name).graph
    taken, shortest = bench.turns(getattr(algorithms, case), graph, sides, given, 0.3)
    for side, x in taken.items():
        stats, members = shortest[side].stats, shortest[side].stats.members
        bench.add(
            part=part, algorithm=case, graph=name, side=side, seconds=statistics.median(x),
            bytes=stats.exchanged_bytes, rounds=stats.rounds, ghosts=sum(m.ghosts for m in members),
            most_arcs=max((m.arcs for m in members), default=0) * max(1, len(members)) / graph.num_arcs,
            active=sum(r.frontier for r in shortest[side].trace), arcs=stats.edges,
        )  # fmt: skip


def _groups(bench: Bench, count: int) -> list[Any]:
    width = max(1, len(bench.cores) // count)
    if width * count > len(bench.cores):
        return [vg.cpu(threads=1)] * count
    return [vg.cpu(cores=bench.cores[k * width : (k + 1) * width]) for k in range(count)]


def cuts(bench: Bench) -> None:
    """Ranges of vertices, hubs that all have, parts of the edges; on 2, 4 and 8 groups of threads."""
    placement._KEPT = 100  # else parts are made anew in each turn
    for name in bench.options.graphs or ["rmat16", "cnr-2000"]:
        loaded = bench.graph(name)
        for count in (2, 8):
            groups = _groups(bench, count)
            placements = {
                "ranges": None,
                **{f"above {t}": vg.cut_hubs(t) for t in (1, 2, 3)},
                "parts of edges": vg.edge_partition(loaded.graph, count, method="hdrf"),
            }
            for case in ("pagerank", "sssp", "bfs"):
                if bench.late():
                    return
                sides = {
                    f"{side}, {count}": {"device": groups, "placement": p} for side, p in placements.items()
                }
                given = (PLACED[case] if case in PLACED else PLACED["sssp"])(loaded)
                _exchanged(bench, "cuts", name, case, sides, given)


@contextmanager
def _price(factor: float, bytes_: float) -> Iterator[None]:
    from vgraph.runtime import policy

    kept = {k: policy._NUMBERS[k] for k in ("policy.changed_factor", "policy.changed_bytes")}
    policy._NUMBERS.update(dict(zip(kept, (factor, bytes_), strict=True)))
    try:
        yield
    finally:
        policy._NUMBERS.update(kept)


def volume(bench: Bench) -> None:
    """All of a round's values, what changed alone, and the rule that chooses, with other prices, too."""
    for name in bench.options.graphs or ["rmat18", "road512"]:
        loaded = bench.graph(name)
        shuffled = np.random.default_rng(3).integers(0, 2, loaded.graph.num_vertices)
        for case, label in (("sssp", "relax"), ("bfs", "visit")):
            for where, owners in (("ranges", None), ("shuffled", shuffled)):
                if bench.late():
                    return
                device = {"device": _groups(bench, 2), "placement": owners}
                given = PLACED["sssp"](loaded)
                for kind in ("DENSE", "CHANGED", "AUTO"):
                    asked = vg.Schedule().at(label, exchange=vg.COMBINE, volume=getattr(vg, kind))
                    sides = {f"{kind}, {where}": {**device, "schedule": asked}}
                    prices = (
                        [(4, 1 << 14)]
                        if kind != "AUTO"
                        else [(1, 0), (2, 1 << 12), (4, 1 << 14), (8, 1 << 16)]
                    )
                    for factor, bytes_ in prices:
                        more = f" x {factor} + {bytes_ >> 10} KiB" if kind == "AUTO" else ""
                        with _price(factor, bytes_):
                            named = {f"{side}{more}": x for side, x in sides.items()}
                            _exchanged(bench, "volume", name, case, named, given)


def buckets(bench: Bench) -> None:
    """Shortest paths: rounds, members that go on by themselves, buckets that all agree on, on sets and one device."""
    alone: list[tuple[str, dict[str, Any]]] = [("one device", {"device": "cpu"})]
    pairs = [(f"{count} groups", {"device": _groups(bench, count)}) for count in (2, 4)]
    ways = {
        "rounds": {"exchange": vg.COMBINE},
        "by themselves": {"exchange": vg.DELAYED},
        "buckets": {"exchange": vg.COMBINE, "order": vg.delta_stepping()},
    }
    if bench.options.gpu:
        alone, pairs = [("one GPU", {"device": "cuda"})], [("CPU and GPU", {"device": ["cpu", "cuda"]})]
    for name in bench.options.graphs or ["rmat18", "road512"]:
        loaded = bench.graph(name)
        for where, device in (*alone, *pairs):
            if bench.late():
                return
            sides = {}
            for way, asked in ways.items():
                if where.startswith("one"):
                    asked = {k: v for k, v in asked.items() if k != "exchange"}
                    if way == "by themselves":
                        continue
                    asked = asked or {"order": vg.UNORDERED}
                sides[f"{where}, {way}"] = {**device, "schedule": vg.Schedule().at("relax", **asked)}
            _exchanged(bench, "buckets", name, "sssp", sides, PLACED["sssp"](loaded))


def dealt(bench: Bench) -> None:
    """Blocks of a matrix of ratings, dealt to groups of threads."""
    import factorization

    name, graph = factorization.load(bench.options.ratings, bench.options.data or Path("."))
    cores, learn = len(bench.cores), algorithms.matrix_factorization
    sides: dict[str, dict[str, Any]] = {
        "threads, locks": {"device": "cpu"},
        "threads, 16 parts": {
            "device": "cpu",
            "schedule": vg.Schedule().at("learn", conflict=vg.dealt_blocks(16)),
        },
    }
    for count, parts in ((2, 16), (8, 16), (8, 8), (8, 64), (16, 16)):
        if count <= cores:
            asked = vg.Schedule().at("learn", conflict=vg.dealt_blocks(parts))
            sides[f"{count} groups, {parts} parts"] = {
                "device": [vg.cpu(threads=cores // count)] * count,
                "schedule": asked,
            }
    for side, more in sides.items():
        if bench.late():
            return
        seconds: list[float] = []
        for _ in range(2):
            found = vg.run(learn, graph, rate=0.02, test="test", epochs=6, **more)
            seconds += [r.seconds for r in found.trace if r.label == "learn"][1:]
        members = found.stats.members or ()
        bench.add(
            part="dealt", graph=name, side=side, seconds=statistics.median(seconds),
            bytes=max((m.received_bytes // 6 for m in members), default=0),
            waited=max((1 - m.seconds / found.stats.run_seconds for m in members), default=0.0),
        )  # fmt: skip


PARTS: dict[str, Callable[[Bench], None]] = {
    f.__name__: f for f in (auto, beside, unequal, ratios, cuts, volume, buckets, dealt)
}


# --- tables --------------------------------------------------------------------------------------------------------


def _by_policy(rows: list[Row], shown: Callable[[str], str]) -> str:
    """Shares of the best ratio, by side and case; and their geometric means."""
    cases = list(dict.fromkeys((r["algorithm"], r["graph"]) for r in rows))
    sides = [s for s in dict.fromkeys(r["side"] for r in rows) if s[:7] not in ("ORACLE", "oracle ")]
    found = {(r["algorithm"], r["graph"], r["side"]): r for r in rows}
    lines = []
    for side in sides:
        mine = [found[*case, side]["of_oracle"] for case in cases]
        mean = float(np.exp(np.mean(np.log(mine))))
        lines.append([shown(side), *(f"{x:.2f}" for x in mine), f"{mean:.3f}"])
    best = [found[*case, "ORACLE"] for case in cases]
    lines.append(["the best ratio", *(f"{r['seconds'] * 1e3:.1f} ms" for r in best), ""])
    lines.append(["of which the first has", *(f"{r['first']:.0%}" for r in best), ""])
    return table(["share of the best ratio", *(f"{a}, {g}" for a, g in cases), "mean"], lines)


def _side(side: str) -> str:
    return f"`{side}`" if side.isupper() and side != "NONE" else side.replace("NONE", "by default")


def _of_auto(rows: list[Row]) -> str:
    lines = [
        [
            f"{r['algorithm']}, {r['graph']}",
            *(f"{r[side] * 1e3:.2f}" for side in ("cpu", "cuda", "auto")),
            r["chosen"],
            f"{r['behind']:.2f}",
        ]
        for r in rows
    ]
    mean = statistics.geometric_mean(r["behind"] for r in rows)
    worst = sum(r["behind"] > 1.02 for r in rows)
    note = f"Geometric mean {mean:.3f}; above 1.02: {worst} of {len(rows)}."
    header = ["ms of a call", "CPU", "GPU", "auto", "went to", "to the better"]
    return f"{table(header, lines)}\n\n{note}"


def _of_exchanges(rows: list[Row]) -> str:
    lines = [
        [
            f"{r['algorithm']}, {r['graph']}",
            r["side"],
            f"{r['seconds'] * 1e3:.2f}",
            str(r["rounds"]),
            f"{r['bytes'] / 1e3:,.0f}",
            *(f"{r[x] / max(1, r['rounds']):,.0f}" for x in ("active", "arcs", "bytes")),
            f"{r['ghosts']:,}",
        ]
        for r in rows
    ]
    header = [
        "",
        "",
        "ms",
        "rounds",
        "kB",
        "active a round",
        "arcs a round",
        "bytes a round",
        "ghosts",
    ]
    return table(header, lines)


def _of_dealt(rows: list[Row]) -> str:
    lines = [
        [r["graph"], r["side"], f"{r['seconds'] * 1e3:.2f}", f"{r['bytes'] / 1e3:,.0f}", f"{r['waited']:.0%}"]
        for r in rows
    ]
    return table(["ratings", "", "ms an epoch", "kB to a member", "waited at most"], lines)


def tables(rows: list[Row]) -> dict[str, str]:
    """The tables, by name."""
    by: dict[str, list[Row]] = {}
    for row in rows:
        by.setdefault(row["part"], []).append(row)
    policies = {part: _by_policy(x, _side) for part, x in by.items() if "of_oracle" in x[0]}
    shown = {
        "auto": _of_auto,
        "cuts": _of_exchanges,
        "volume": _of_exchanges,
        "buckets": _of_exchanges,
        "dealt": _of_dealt,
    }
    return policies | {part: shown[part](x) for part, x in by.items() if part in shown}


def into_docs(rows: list[Row], page: Path) -> None:
    """Put the tables between their marks."""
    text = page.read_text()
    for name, shown in tables(rows).items():
        text = re.sub(
            rf"(<!-- {name} -->\n).*?(<!-- end -->)", rf"\g<1>{shown}\n\g<2>", text, flags=re.DOTALL
        )
    page.write_text(text)


def merged(file: Path, parts: list[str]) -> list[Row]:
    """The rows of `results/devices.json`, those of the parts of another file instead of its own."""
    own, new = (json.loads(x.read_text()) for x in (RESULTS / "devices.json", file))
    there = set(parts) & {r["part"] for r in new["rows"]} if parts else {r["part"] for r in new["rows"]}
    stamp = {
        "commit": new["versions"]["vgraph_commit"],
        "date": new["date"],
        "cores": new["machine"]["cores"],
    }
    rows = [r for r in own["rows"] if r.get("part") not in (None, *there)]
    rows += [{**r, **stamp} for r in new["rows"] if r["part"] in there]
    (RESULTS / "devices.json").write_text(json.dumps({**new, "rows": rows}, indent=1) + "\n")
    return rows


def main() -> None:
    """Measure into a file, or merge one and write the tables of the docs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", default=[], choices=list(PARTS))
    parser.add_argument("--graphs", nargs="+")
    parser.add_argument("--algorithms", nargs="+", choices=list(SOURCES))
    parser.add_argument("--gpu", action="store_true", help="there is one: graphs are made on it")
    parser.add_argument("--ratings", default="ml-latest-small")
    parser.add_argument("--data", type=Path)
    parser.add_argument(
        "--loop", type=float, default=0.1, help="seconds of a loop over sources on the fastest"
    )
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--each", type=float, default=600.0, help="seconds of a part")
    parser.add_argument("--docs", type=Path, default=Path(__file__).parents[1] / "docs" / "devices.md")
    parser.add_argument("--out", type=Path, default=RESULTS / "devices_new.json")
    parser.add_argument("--merge", type=Path)
    options = parser.parse_args()
    if options.merge:
        into_docs(merged(options.merge, options.parts), options.docs)
        return
    bench = Bench(options)
    for part in options.parts:
        bench.end = min(bench.last, time.monotonic() + options.each)
        PARTS[part](bench)


if __name__ == "__main__":
    main()

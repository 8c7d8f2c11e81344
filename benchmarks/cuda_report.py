"""The tables of docs/internals/cuda.md, from the result files of `gpu.py` and `sanitizer.py`."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

import harness

Row = dict[str, Any]
BOUND = 1.15
"""What is chosen may take so many times as long as the best that was found."""


def _where(runs: Sequence[Row]) -> list[str]:
    """Where the runs were made, a line for each place, with the least and the best copy rate seen there."""
    rates: dict[tuple[str, str, str, str], list[float]] = {}
    for run in runs:
        gpu, versions = run["gpu"], run["versions"]
        place = (
            run["date"][:10],
            f"{gpu['name']} ({gpu['arch']}, {gpu['multiprocessors']} multiprocessors, driver {gpu['driver']})",
            f"{run['machine']['cpu']}, {run['machine']['cores']} cores",
            f"CuPy {versions['cupy']}, NVRTC {versions['nvrtc']}, commit {versions['vgraph_commit']}",
        )
        copied = run.get("method", {}).get("copy_bytes_per_second")
        rates.setdefault(place, []).extend([copied / 1e12] if copied else [])
    return ["; ".join([*place[:3], *_copies(found), place[3]]) + "." for place, found in rates.items()]


def _copies(rates: Sequence[float]) -> list[str]:
    ends = sorted({f"{rate:.2f}" for rate in rates}, key=float)
    return [f"copy on the device {' to '.join(dict.fromkeys([ends[0], ends[-1]]))} TB/s"] if ends else []


def part(runs: Sequence[Row], table: Callable[[Sequence[Row]], str]) -> str:
    """One part: where its runs were made, its rows in one table, and what could not be measured."""
    blocks = _where(runs)
    rows = [row for run in runs for row in run["rows"]]
    if rows:
        blocks.append(table(rows))
    failed = [failure for run in runs for failure in run["failures"] if not failure["refused"]]
    if failed:
        lines = [f"{_named(failure)}: {failure['reason']}" for failure in failed]
        blocks.append("Not measured:\n\n" + "\n".join(f"- {line}" for line in lines))
    return "\n\n".join(blocks)


def _named(row: Row) -> str:
    return ", ".join(str(v) for k, v in row.items() if k not in ("reason", "refused") and v is not None)


def _spread(row: Row) -> str:
    return f"{_ms(row['low_ms'])} to {_ms(row['high_ms'])}"


def _ms(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def headline(rows: Sequence[Row]) -> str:
    header = [
        "graph",
        "case",
        "ms",
        "spread",
        "rounds",
        "others, ms (vgraph / other)",
        "floor ms",
        "of copy rate",
    ]
    cells = []
    for row in rows:
        others = sorted(row["peers"].items(), key=lambda item: item[1]["ms"])
        cells.append(
            [
                row["graph"],
                row["case"],
                _ms(row["ms"]),
                _spread(row),
                str(row["rounds"]),
                ", ".join(f"{name} {_ms(p['ms'])} ({p['ratio']:.2f})" for name, p in others) or "-",
                _ms(row["floor_ms"]) if "floor_ms" in row else "-",
                f"{row['share_of_copy_rate']:.0%}" if "floor_ms" in row else "-",
            ]
        )
    return harness.table(header, cells)


def short(rows: Sequence[Row]) -> str:
    """The README's table: ratios to the quickest of the others, with its name."""
    found = {(row["graph"], row["case"]): row["peers"] for row in rows}
    cases = [
        case
        for case in dict.fromkeys(case for _, case in found)
        if any(found.get((g, case)) for g, _ in found)
    ]

    def cell(peers: Row) -> str:
        name, best = min(peers.items(), key=lambda item: item[1]["ms"], default=("", {"ratio": 0.0}))
        ratio = f"**{best['ratio']:.2f}**" if best["ratio"] > 1 else f"{best['ratio']:.2f}"
        return f"{ratio} ({name})" if name else "-"

    graphs = list(dict.fromkeys(graph for graph, _ in found))
    return harness.table(["", *graphs], [[c, *(cell(found.get((g, c), {})) for g in graphs)] for c in cases])


def layouts(rows: Sequence[Row]) -> str:
    header = ["graph", "case", "state", "ms", "spread", "by hand", "prepared: ms, MB"]
    cells = []
    for row in rows:
        made = ", ".join(f"{m['name']} {_ms(m['ms'])}, {m['bytes'] / 1e6:.0f}" for m in row["made"])
        by_hand = row.get("by_hand")
        cells.append(
            [
                row["graph"],
                row["case"],
                row["state"],
                _ms(row["ms"]),
                _spread(row),
                f"{_ms(by_hand)} ({row['ms'] / by_hand:.1f}x)" if by_hand else "-",
                made or "-",
            ]
        )
    return harness.table(header, cells)


def auto(rows: Sequence[Row]) -> str:
    """What is chosen beside the best that was found; how far apart they are over all cells."""
    ratios = sorted((row["ms"] / row["best_ms"] for row in rows), reverse=True)
    above = sum(ratio > BOUND for ratio in ratios)
    summary = (
        f"{len(ratios)} cells, {above} above {BOUND}, geometric mean {statistics.geometric_mean(ratios):.2f}."
    )
    header = ["graph", "case", "chosen, ms", "best found, ms", "AUTO / best", "schedules tried"]
    cells = []
    for row in rows:
        ratio = row["ms"] / row["best_ms"]
        shown = f"**{ratio:.2f}**" if ratio > BOUND else f"{ratio:.2f}"
        best = f"{_ms(row['best_ms'])} ({row['best']})"
        cells.append([row["graph"], row["case"], _ms(row["ms"]), best, shown, str(len(row["tried"]))])
    return f"{summary}\n\n{harness.table(header, cells)}"


def beside(rows: Sequence[Row]) -> str:
    """What `gpu_peers.py` found."""
    header = ["graph", "case", "vgraph ms", "least to most", "peer", "ms", "least to most", "vgraph / peer"]
    return harness.table(
        header,
        [
            [
                row["graph"],
                row["case"],
                f"{row['ms']:.2f}",
                f"{row['low_ms']:.2f} to {row['high_ms']:.2f}",
                row["peer"],
                f"{row['peer_ms']:.2f}",
                f"{row['peer_low_ms']:.2f} to {row['peer_high_ms']:.2f}",
                f"{row['ms'] / row['peer_ms']:.2f}",
            ]
            for row in rows
        ],
    )


def balance(rows: Sequence[Row]) -> str:
    names = list(dict.fromkeys(row["balance"] for row in rows))
    cells = []
    for key in dict.fromkeys((r["graph"], r["case"], r["relabel"]) for r in rows):
        mine = {r["balance"]: r["ms"] for r in rows if (r["graph"], r["case"], r["relabel"]) == key}
        best = min(mine.values())
        order = f"{key[1]}, by degree" if key[2] else key[1]
        shown = [f"{'**' if mine[n] == best else ''}{_ms(mine[n])}{'**' if mine[n] == best else ''}"
                 if n in mine else "-" for n in names]  # fmt: skip
        cells.append([key[0], order, *shown])
    gained = [
        [g["graph"], g["case"] + (", by degree" if g["relabel"] else ""), g["best"], f"{g['gain']:.0%}"]
        for g in gains(rows)
    ]
    tables = [harness.table(["graph", "case, ms", *names], cells)]
    if gained:
        tables.append("What node splitting saves of the time of a thread per vertex:")
        tables.append(harness.table(["graph", "case", "best limit", "saved"], gained))
    return "\n\n".join(tables)


def gains(rows: Sequence[Row]) -> list[Row]:
    """Node splitting's gain in each case: the part of the time of a thread per vertex that the best limit saves."""
    found = []
    for key in dict.fromkeys((r["graph"], r["case"], r["relabel"]) for r in rows):
        mine = {r["balance"]: r["ms"] for r in rows if (r["graph"], r["case"], r["relabel"]) == key}
        split = {name: ms for name, ms in mine.items() if name.startswith("split")}
        if split and "vertex" in mine:
            best = min(split, key=split.__getitem__)
            gain = 1 - split[best] / mine["vertex"]
            found.append(dict(zip(("graph", "case", "relabel"), key, strict=True), best=best, gain=gain))
    return found


def growth(rows: Sequence[Row]) -> str:
    cells = [
        [
            row["case"],
            row["graph"],
            f"{row['arcs'] / 1e6:.1f}",
            _ms(row["ms"]),
            _spread(row),
            f"{row['arcs_per_second'] / 1e9:.1f}",
        ]
        for row in sorted(rows, key=lambda row: (row["case"], row["arcs"]))
    ]
    return harness.table(["case", "graph", "million arcs", "ms", "spread", "billion arcs/s"], cells)


def devices(rows: Sequence[Row]) -> str:
    cells = [
        [
            row["graph"],
            row["case"],
            _ms(row["gpu_ms"]),
            _spread(row),
            _ms(row["call_ms"]),
            str(row["cpu_threads"]),
            _ms(row["cpu_ms"]),
            f"{row['speedup']:.1f}",
        ]
        for row in rows
    ]
    header = ["graph", "case", "GPU ms", "spread", "whole call ms", "CPU threads", "CPU ms", "CPU / GPU"]
    return harness.table(header, cells)


def constants(rows: Sequence[Row]) -> str:
    tables = []
    for constant in dict.fromkeys(row["constant"] for row in rows):
        mine = [row for row in rows if row["constant"] == constant]
        values = sorted({row["value"] for row in mine})
        cells = []
        for graph, case in dict.fromkeys((row["graph"], row["case"]) for row in mine):
            found = {r["value"]: r["ms"] for r in mine if (r["graph"], r["case"]) == (graph, case)}
            cells.append([graph, case, *(_ms(found[v]) if v in found else "-" for v in values)])
        tables.append(harness.table(["graph", f"case, ms by {constant}", *(f"{v:g}" for v in values)], cells))
    return "\n\n".join(tables)


def startup(rows: Sequence[Row]) -> str:
    names = {
        "import_vgraph_ms": "import vgraph",
        "import_cupy_ms": "import cupy",
        "open_gpu_ms": "open the GPU",
        "compile_ms": "compile, load",
        "transfer_ms": "transfer",
        "run_ms": "run",
        "kernel_ms": "of it kernel",
        "first_run_ms": "first vg.run",
        "second_run_ms": "second",
    }
    cells = [[row["algorithm"], row["state"], *(f"{row[name]:.1f}" for name in names)] for row in rows]
    return harness.table(["algorithm", "cache", *names.values()], cells)


PARTS: dict[str, Callable[[Sequence[Row]], str]] = {
    "headline": headline,
    "readme": short,
    "layouts": layouts,
    "auto": auto,
    "balance": balance,
    "growth": growth,
    "devices": devices,
    "constants": constants,
    "startup": startup,
}


def sanitizer(content: Row) -> str:
    """The page's table of `sanitizer.py`."""
    cells = [
        [row["tool"], row["version"], str(row["runs"]), row["summary"], f"{row['seconds']:.0f}"]
        for row in content["rows"]
    ]
    return f"{_where([content])[0]}\n\n" + harness.table(["tool", "version", "runs", "summary", "s"], cells)

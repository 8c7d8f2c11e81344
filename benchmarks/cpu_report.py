"""The tables and the plot that are made from `cpu.json`, and those of `rounds.json`.

python benchmarks/cpu_report.py  # draws results/scaling.svg
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anchors
import harness

Rows = Sequence[Mapping[str, Any]]
NAMES = {
    "bfs": "BFS",
    "sssp": "SSSP",
    "pagerank 32-bit": "PageRank, 20 rounds, 32-bit",
    "pagerank 64-bit": "PageRank, 20 rounds, 64-bit",
    "cc": "connected components",
    "triangles": "triangles",
    "betweenness": "betweenness, 4 sources",
    "kcore": "k-core",
}


def _numbers(rows: Rows) -> list[int]:
    return sorted({row["threads"] for row in rows})


def _groups(rows: Rows) -> dict[tuple[str, str], dict[int, Mapping[str, Any]]]:
    """By graph and case the rows of all numbers of threads."""
    found: dict[tuple[str, str], dict[int, Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault((row["graph"], row["case"]), {})[row["threads"]] = row
    return found


def _peer(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The quickest of the peers that were measured."""
    return min(row["peers"], key=lambda peer: peer["ms"], default=None)


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return ""
    peer, few = _peer(row), "*" * (row.get("blocks", 5) < 5) + "~" * bool(row.get("layouts"))
    return f"{row['ms']:.2f}{few}" if peer is None else f"{row['ms']:.2f}{few} ({_ratio(peer['ratio'])})"


def _ratio(ratio: float) -> str:
    """What is lost stands out."""
    return f"**{ratio:.2f}**" if ratio > 1.0 else f"{ratio:.2f}"


def page(content: Mapping[str, Any]) -> str:
    """Milliseconds and the ratio to the quickest measured peer, all numbers of threads in a row."""
    rows = content["rows"]
    threads = _numbers(rows)
    lines = []
    for (graph, case), found in _groups(rows).items():
        peers = dict.fromkeys(peer["label"] for row in found.values() if (peer := _peer(row)))
        lines.append([graph, case, ", ".join(peers), *(_cell(found.get(t)) for t in threads)])
    table = harness.table(["graph", "case", "peer", *(f"{t} thr" for t in threads)], lines)
    note = content.get("method", {}).get("note")
    said = f" {note[0].upper()}{note[1:]}." if note else ""
    few = "A star marks medians of fewer than five blocks; a tilde, that vgraph had made "
    few += f"a layout of the arcs in runs before, which is not in the time.{said}"
    return f"{few}\n\n{table}\n\n{anchors.summary(rows)}"


def lost(content: Mapping[str, Any]) -> str:
    """Geometric means by number of threads, and every cell above 1, with its best peer."""
    cells = anchors.cells(content["rows"])
    threads = sorted({c.threads for c in cells})
    means = [
        [
            str(t),
            str(len(own := [c for c in cells if c.threads == t])),
            f"{anchors.geometric_mean([c.ratio for c in own]):.2f}",
            str(sum(c.ratio > 1 for c in own)),
        ]
        for t in threads
    ]
    above = sorted((c for c in cells if c.ratio > 1), key=lambda c: -c.ratio)
    lines = [
        [c.algorithm, c.graph, str(c.threads), f"{c.ms:.2f}", c.best, f"{c.best_ms:.2f}", f"{c.ratio:.2f}"]
        for c in above
    ]
    header = ["algorithm", "graph", "threads", "vgraph ms", "best peer", "its ms", "ratio"]
    first = harness.table(["threads", "cells", "geometric mean", "above 1"], means)
    return f"{first}\n\nAbove 1:\n\n{harness.table(header, lines)}\n\n{anchors.summary(content['rows'])}"


def _scaled(rows: Rows) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Each cell with one thread, and with the most."""
    groups, most = _groups(rows).values(), max(_numbers(rows))
    return [(found[1], found[most]) for found in groups if 1 in found and most in found and most > 1]


def scaling(content: Mapping[str, Any]) -> str:
    """How many times as fast the most threads are as one, of vgraph and of its peer, and of copies of memory."""
    rows, most = content["rows"], max(_numbers(content["rows"]))
    if not _scaled(rows):
        return f"{most} threads were measured, one was not: `benchmarks/cpu_table.py` measures both."
    lines = []
    for one, many in _scaled(rows):
        peers = [a["ms"] / b["ms"] for a in one["peers"] for b in many["peers"] if a["label"] == b["label"]]
        lines.append(
            [
                one["graph"],
                one["case"],
                f"{one['ms'] / many['ms']:.1f}",
                f"{max(peers):.1f}" if peers else "",
                f"{many['bandwidth_gb_s'] / one['bandwidth_gb_s']:.1f}",
                f"{many['bandwidth_gb_s']:.0f}",
                "" if many["share_of_bandwidth"] is None else f"{many['share_of_bandwidth']:.0%}",
            ]
        )
    header = ["graph", "case", f"{most} thr over 1", "peer", "copies", "GB/s", "of bandwidth"]
    return harness.table(header, lines)


def short(content: Mapping[str, Any]) -> str:
    """The README's table: ratios to the peers that were measured, with 1, 2 and the most threads of those measured."""
    rows = content["rows"]
    numbers = _numbers(rows)
    threads = sorted({*numbers} & {1, 2, max(numbers)})
    graphs = [g for g in ("kron18", "kron20", "road") if any(row["graph"] == g for row in rows)]
    groups = _groups(rows)
    lines = []
    for case, name in NAMES.items():
        cells = []
        for graph in graphs:
            found = groups.get((graph, case), {})
            best = [_peer(found[t]) if t in found else None for t in threads]
            cells.append(" / ".join("-" if peer is None else f"{peer['ratio']:.2f}" for peer in best))
        lines.append([name, *cells])
    header = [f"{' / '.join(map(str, threads))} threads", *graphs]
    every = anchors.cells(rows)
    lost_ones = [c for c in every if c.ratio > 1]
    worst = ", ".join(
        f"{c.algorithm} on {c.graph} with {c.threads} {c.ratio:.2f}"
        for c in sorted(lost_ones, key=lambda c: -c.ratio)[:6]
    )
    said = f"{anchors.summary(rows)} Above 1 are {len(lost_ones)}; furthest behind: {worst}." if worst else ""
    return f"{harness.table(header, lines)}\n\n{said or anchors.summary(rows)}"


def rounds(content: Mapping[str, Any]) -> str:
    """Microseconds of a round, by vertices and threads."""
    found = [row for row in content["rows"] if row["what"] == "round"]
    us = {(row["vertices"], row["threads"]): row["us"] for row in found}
    threads = _numbers(found)
    lines = [
        [f"{n:,}", *(f"{us[n, t]:.2f}" for t in threads)] for n in sorted({row["vertices"] for row in found})
    ]
    return harness.table(["vertices", *(f"us, {t} thr" for t in threads)], lines)


def calls(content: Mapping[str, Any]) -> str:
    """Microseconds of a whole call."""
    (row,) = (row for row in content["rows"] if row["what"] == "call")
    return f"A call takes {row['us']:.0f} us."


def draw(rows: Rows, path: Path) -> None:
    """The speed-up of each cell, a panel for each graph, and where copies of memory end."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "vgraph"
    pairs, most = _scaled(rows), max(_numbers(rows))
    graphs = list(dict.fromkeys(one["graph"] for one, _ in pairs))
    if not graphs:
        return
    figure = Figure(figsize=(2.6 * len(graphs) + 1, 4), layout="constrained")
    for k, (graph, axes) in enumerate(
        zip(graphs, figure.subplots(1, len(graphs), sharey=True, squeeze=False)[0], strict=True)
    ):
        own = [(one, many) for one, many in pairs if one["graph"] == graph]
        places = range(len(own))
        axes.bar(places, [one["ms"] / many["ms"] for one, many in own], width=0.6)
        for at, (one, many) in zip(places, own, strict=True):
            for a in one["peers"]:
                for b in many["peers"]:
                    if a["label"] == b["label"]:
                        axes.plot(at, a["ms"] / b["ms"], "k_", ms=10, mew=2)
        roof = own[0][1]["bandwidth_gb_s"] / own[0][0]["bandwidth_gb_s"]
        axes.axhline(roof, ls="--", color="grey", lw=1)
        axes.set_title(graph, fontsize=9)
        axes.set_xticks(list(places), [one["case"] for one, _ in own], rotation=90, fontsize=7)
        if k == 0:
            axes.set_ylabel(f"{most} threads over 1 (bar: vgraph, mark: peer, dashes: copies)", fontsize=8)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    draw(json.loads((harness.RESULTS / "cpu.json").read_text())["rows"], harness.RESULTS / "scaling.svg")

"""Puts the result files into pages of docs, between their `<!-- results: NAME -->` marks.

python benchmarks/report.py            rewrites the pages
python benchmarks/report.py --check    exits 1 if the pages do not show the result files
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cpu_report
import cuda_report
import harness
import library_report
import regress

INTERNALS = Path(__file__).parent.parent / "docs" / "internals"
README = INTERNALS.parent.parent / "README.md"
PAGES = (README, INTERNALS / "performance.md", INTERNALS / "cuda.md", INTERNALS.parent / "partitioning.md")
MARKED = re.compile(r"(<!-- results: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def floors(content: dict[str, Any]) -> str:
    threads = content["rows"][0]["threads"]
    header = ["graph", "case", "floor MB", "with gathers MB", *(f"GB/s, {t} thr" for t in threads)]
    header += [f"floor ms, {t} thr" for t in threads]
    cells = [
        [
            row["graph"],
            row["case"],
            f"{row['floor_bytes'] / 1e6:.1f}",
            f"{row['total_bytes'] / 1e6:.1f}",
            *(f"{rate:.0f}" for rate in row["bandwidth_gb_s"]),
            *(f"{ms:.2f}" for ms in row["floor_ms"]),
        ]
        for row in content["rows"]
    ]
    return harness.table(header, cells)


def earlier(content: dict[str, Any]) -> str:
    rows = [regress.Row(**row) for row in content["rows"]]
    how, limit = content["method"], 1.03
    slower = [row for row in rows if row.slower(limit)]
    mean = statistics.geometric_mean(row.ratio for row in rows)
    said = (
        f"Beside commit {content['before']}, {rows[0].threads} thread, {how['clock']} time, medians of blocks: "
        f"geometric mean {mean:.3f} over {len(rows)} cells, above {limit}: {len(slower)}"
    )
    names = ", ".join(f"`{row.case}` on {row.graph} {row.ratio:.2f}" for row in slower)
    return f"{said}{f' ({names})' if names else ''}.\n\n{regress.show(rows)}"


def startup(content: dict[str, Any]) -> str:
    header = ["cache", "algorithm", "import ms", "run ms", "of it compile ms", "process ms"]
    names = ("import_ms", "run_ms", "compile_ms", "process_ms")
    cells = [
        [row["state"], row["algorithm"], *(f"{row[name]:.0f}" for name in names)] for row in content["rows"]
    ]
    bare = content["bare_ms"]
    note = f"A bare Python process takes {bare['python']:.0f} ms, with NumPy {bare['numpy']:.0f} ms."
    return f"{harness.table(header, cells)}\n\n{note}"


def forms(content: dict[str, Any]) -> str:
    header = ["application", "graph", "threads", "form", "drive", "ms", "to the best", "rounds"]
    cells = [
        [
            row["application"],
            row["graph"],
            str(row["threads"]),
            row["form"],
            row["drive"],
            f"{row['ms']:.2f}" + (" (once)" if row["blocks"] == 1 else ""),
            f"{row['ratio']:.2f}",
            str(row["rounds"]),
        ]
        for row in content["rows"]
    ]
    return harness.table(header, cells)


def partition(content: dict[str, Any]) -> str:
    """Cuts as ratios, times in ms; below, the geometric means, of times also by the number of parts."""
    rows = content["rows"]
    sides = list(rows[0]["seconds"])
    ours, (other, *more) = sides[0], [n for n in sides if not n.startswith("vgraph")]
    alone = "vgraph, 1 thr"
    worked = [m for m in (*more, other) if alone in rows[0]["processor"]]

    def ratios(what: str, side: str, to: str, some: list[dict[str, Any]] = rows) -> list[float]:
        return [r[what][side] / r[what][to] for r in some if to in r[what]]

    header = [
        "graph",
        "edges",
        "k",
        f"cut, {other}",
        "vgraph's to it",
        *(f"to {m}'s" for m in more),
        "balance",
    ]
    header += [f"ms, {s}" for s in sides]
    header += [f"processor time to {'it' if m == other else m}, 1 thr" for m in worked]
    cells = [
        [
            *(r["graph"], f"{r['edges']:,}", str(r["k"])),
            f"{r['cut'][other]:,.0f}" if other in r["cut"] else "",
            *(f"{r['cut'][ours] / r['cut'][m]:.3f}" if m in r["cut"] else "" for m in (other, *more)),
            f"{r['balance'][ours]:.3f}",
            *(f"{1e3 * r['seconds'][s]:.0f}" if s in r["seconds"] else "" for s in sides),
            *(f"{r['processor'][alone] / r['processor'][m]:.2f}" for m in worked),
        ]
        for r in rows
    ]
    mean = statistics.geometric_mean
    by_k = {k: [r for r in rows if r["k"] == k] for k in sorted({r["k"] for r in rows})}
    said = []
    for s in sides:
        if s != other:
            each = ", ".join(f"{mean(ratios('seconds', s, other, some)):.2f}" for some in by_k.values())
            said.append(f"{s} {mean(ratios('seconds', s, other)):.2f} ({each})")
    ks = ", ".join(map(str, by_k))
    summary = f"Geometric means of the ratios to {other}: cut {mean(ratios('cut', ours, other)):.3f}, "
    summary += f"time (by k = {ks}) {'; '.join(said)}"
    if worked:
        summary += f"; processor time with one thread {mean(ratios('processor', alone, other)):.2f}"
    summary += "."
    for m in more:
        both = mean(ratios("cut", ours, m)), mean(ratios("processor", alone, m))
        summary += " To {}: cut {:.3f}, processor time {:.2f}.".format(m, *both)
    if content["method"]["note"]:
        summary += f" {content['method']['note']}"
    return f"{harness.table(header, cells)}\n\n{summary}"


def edge_partition(content: dict[str, Any]) -> str:
    """C of each method, and seconds; then how far SPAC is below those that look at edges one by one."""
    ways: dict[str, None] = {}
    found: dict[tuple[str, int, int], dict[str, dict[str, Any]]] = {}
    for row in content["rows"]:
        way = ", ".join(x for x in (row["method"], row["partitioner"]) if x)
        ways[way] = None
        found.setdefault((row["graph"], row["edges"], row["k"]), {})[way] = row
    cells = [
        [name, f"{edges:,}", str(k)]
        + [f"{by[w]['cost']:,} ({by[w]['seconds']:.2g})" if w in by else "" for w in ways]
        for (name, edges, k), by in found.items()
    ]
    over = [
        (by["spac, vgraph"]["cost"] / min(by[w]["cost"] for w in ("random", "greedy", "hdrf", "grid")), name)
        for (name, _, _), by in found.items()
    ]
    heaviest = max(row["balance"] for row in content["rows"] if row["method"] == "spac")
    said = f"C of spac over the least of random, greedy, hdrf and grid: {min(over)[0]:.3f} to {max(over)[0]:.3f} "
    said += f"({max(over)[1]}); its largest part at most {heaviest:.3f} of the mean."
    return f"{harness.table(['graph', 'edges', 'k', *ways], cells)}\n\n{said}"


def walshaw(content: dict[str, Any]) -> str:
    """The least and the median cut of all seeds beside the archive's; below, the means of their ratios."""
    rows = content["rows"]
    methods = list(rows[0]["cuts"])
    shown = [(m, word, of) for m in methods for word, of in (("least", min), ("median", statistics.median))]
    cells = [
        [
            *(r["graph"], f"{r['vertices']:,}", f"{r['edges']:,}", f"{r['best']:,}"),
            *(f"{of(r['cuts'][m]):,.0f}" for m, _, of in shown),
            f"{r['balance']['vgraph']:.3f}",
        ]
        for r in rows
    ]
    header = [
        "graph",
        "vertices",
        "edges",
        "best known",
        *(f"{m}, {word}" for m, word, _ in shown),
        "balance",
    ]
    means = [
        f"{m}, {word} {statistics.geometric_mean(of(r['cuts'][m]) / r['best'] for r in rows):.3f}"
        for m, word, of in shown
    ]
    how = content["method"]
    said = f"Geometric means of the ratios to the best known: {'; '.join(means)} ({how['seeds']} seeds)."
    return f"{harness.table(header, cells)}\n\n{said}"


def flows(content: dict[str, Any]) -> str:
    """Milliseconds; the last column compares two threads with the better of the others."""
    names = list(content["rows"][0]["ms"])
    ours, peers = names[:2], names[2:]
    rows = [
        [
            *(row["network"], f"{row['vertices']:,}", f"{row['arcs']:,}"),
            *(f"{row['ms'][name]:,.0f}" for name in names),
            f"{row['ms'][ours[1]] / min(row['ms'][name] for name in peers):.2f}",
        ]
        for row in content["rows"]
    ]
    return harness.table(["network", "vertices", "arcs", *names, "vgraph 2 to the better"], rows)


def factorization(content: dict[str, Any]) -> str:
    """Descent under each schedule with its plan, all numbers of threads in a row; then what `implicit` has."""
    rows = [row for row in content["rows"] if "," not in row["way"]]
    threads = list(dict.fromkeys(row["threads"] for row in rows))
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault((f"{row['ratings']}, {row['count']:,}", row["way"]), []).append(row)
    header = [
        "ratings",
        "schedule",
        "plan s",
        "phases",
        *(f"ms per epoch, {t} thr" for t in threads),
        "test RMSE",
    ]
    some = [
        [
            *name,
            *(
                (f"{many[0]['plan_seconds']:.2f}", f"{many[0]['phases']:,}")
                if many[0]["phases"]
                else ("", "")
            ),
            *(f"{row['milliseconds']:.1f}" for row in many),
            ", ".join(dict.fromkeys(f"{row['quality']:.3f}" for row in many)),
        ]
        for name, many in found.items()
    ]
    pairs = [row for row in content["rows"] if "," in row["way"]]
    squares = [
        [
            *(one["way"].partition(",")[0], one["ratings"], str(one["factors"]), str(one["threads"])),
            *(f"{row[what]:,.6g}" for row in (one, other) for what in ("epochs", "milliseconds", "quality")),
            f"{other['milliseconds'] / one['milliseconds']:.2f}",
        ]
        for one, other in zip(pairs[::2], pairs[1::2], strict=True)
    ]
    sides = [f"{what}, {who}" for who in ("implicit", "vgraph") for what in ("epochs", "ms", "loss or AUC")]
    tables = (
        harness.table(header, some),
        harness.table(["by", "ratings", "factors", "thr", *sides, "ratio"], squares),
    )
    said = "Beside `implicit`, until the loss, or the AUC of the tests, is as good as its:"
    return f"{tables[0]}\n\n{said}\n\n{tables[1]}"


def factorization_gpu(content: dict[str, Any]) -> str:
    """Steps of an epoch on a GPU under each schedule, beside locks on the CPU and LIBMF; and LIBMF over the first."""
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in content["rows"]:
        found.setdefault(
            (f"{row['ratings']}, {row['count']:,}, {row['d_max']:,}", row["factors"]), []
        ).append(row)
    ways = list(dict.fromkeys(row["way"] for row in content["rows"]))
    some = []
    for (name, factors), rows in found.items():
        by_way = {row["way"]: row for row in rows}
        times = [f"{by_way[way]['milliseconds']:.2f}" if way in by_way else "" for way in ways]
        over = by_way["LIBMF"]["milliseconds"] / by_way[ways[0]]["milliseconds"] if "LIBMF" in by_way else 0
        errors = [f"{by_way[way]['quality']:.3f}" for way in (ways[0], "LIBMF") if way in by_way]
        plan = f"{by_way[ways[0]]['plan_seconds']:.2f}"
        some.append([name, str(factors), plan, *times, f"{over:.1f}" if over else "", ", ".join(errors)])
    header = ["ratings, at a vertex", "factors", "plan s", *ways, "LIBMF / first", "test RMSE, LIBMF's"]
    return harness.table(header, some)


def conflicts(content: dict[str, Any]) -> str:
    """Ratings x schedules: the plan, an epoch's steps on each device, the tests' error, what was put off."""
    places = list(dict.fromkeys((row["device"], row["threads"]) for row in content["rows"]))
    found: dict[tuple[str, str], dict[tuple[str, int], dict[str, Any]]] = {}
    for row in content["rows"]:
        name = f"{row['ratings']}, {row['count']:,}, {row['d_max']:,}"
        found.setdefault((name, row["schedule"]), {})[row["device"], row["threads"]] = row
    places.sort(key=lambda place: (place[0] != "cpu", place[1]))
    cells = []
    for name, rows in found.items():
        one = next(iter(rows.values()))
        plan = (f"{one['plan_seconds']:.2f}", f"{one['phases']:,}") if one["phases"] else ("", "")
        times = [f"{rows[at]['milliseconds']:.2f}" if at in rows else "" for at in places]
        errors = ", ".join(dict.fromkeys(f"{row['rmse']:.3f}" for row in rows.values()))
        put_off = []
        for at in places:
            if rows.get(at, {}).get("deferred"):
                many = ", ".join(f"{x:,.1f}" for x in rows[at]["deferred"])
                put_off.append(f"{'GPU' if at[0] == 'cuda' else at[1]}: {many}")
        cells.append([*name, *plan, *times, errors, "; ".join(put_off)])
    on = [f"{threads} thr" if device == "cpu" else "GPU" for device, threads in places]
    note = f"{content['note']}.\n\n" if "note" in content else ""
    head = [
        "ratings, at a vertex",
        "schedule",
        "plan s",
        "phases",
        *on,
        "test RMSE",
        "put off by pass 1, 2, ...",
    ]
    return note + harness.table(head, cells)


def gpu_peers(content: dict[str, Any]) -> str:
    note = f"{content['note']}.\n\n" if "note" in content else ""
    return note + cuda_report.beside(content["rows"])


def cpu_locality(content: dict[str, Any]) -> str:
    """Milliseconds of a round by layout; then what an arc of a round misses, as cachegrind counts it."""
    rows = [row for row in content["rows"] if row["ms"]]
    header = [
        "graph (vertices, arcs)",
        "order",
        "case",
        *(next(iter(rows[0]["ms"].values())) if rows else ()),
    ]
    cells = [
        [f"{row['graph']} ({row['vertices']:,}, {row['arcs']:,})", row["order"], case]
        + [f"{x:.3f}" for x in ms.values()]
        for row in rows
        for case, ms in row["ms"].items()
    ]
    missed = [
        [f"{row['graph']} ({row['vertices']:,}, {row['arcs']:,})", row["order"], layout]
        + [f"{x:.2f}" for x in figures]
        for row in content["rows"]
        for layout, figures in row["misses"].items()
    ]
    tables = [harness.table(header, cells)] if cells else []
    if missed:
        head = ["graph (vertices, arcs)", "order", "layout", "references", "missed by D1", "by LL"]
        said = "A product in 64 bits with one thread, by cachegrind (D1 of 32 KiB, LL of 256), per arc:"
        tables.append(f"{said}\n\n{harness.table(head, missed)}")
    if "note" in content:
        tables.append(f"{content['note']}.")
    return "\n\n".join(tables)


def gpu_locality(content: dict[str, Any]) -> str:
    """Milliseconds of a round by layout, and the best over cuSPARSE's product of the same type in the same order."""
    layouts = list(next(iter(content["rows"][0]["ms"].values())))
    cells = []
    for row in content["rows"]:
        for case, ms in row["ms"].items():
            peer = row["cusparse"]["float64" if case.endswith("64") else "float32"]
            name = f"{row['graph']} ({row['vertices']:,}, {row['arcs']:,})"
            shown = [f"{ms[x]:.4f}" if x in ms else "" for x in layouts]
            cells.append([name, row["order"], case, *shown, f"{peer:.4f}", f"{min(ms.values()) / peer:.2f}"])
    note = f"{content['note']}.\n\n" if "note" in content else ""
    header = ["graph (vertices, arcs)", "order", "case", *layouts, "cuSPARSE", "best / cuSPARSE"]
    return note + harness.table(header, cells)


def tuning(content: dict[str, Any]) -> str:
    """Geometric means of the default over the best by threads, then each cell in which something is clearly quicker."""
    rows = content["rows"]
    means = []
    for threads in sorted({row["threads"] for row in rows}):
        found = [row["ratio"] for row in rows if row["threads"] == threads]
        counted = [str(sum(ratio > limit for ratio in found)) for limit in (1.05, 1.25)]
        means.append([str(threads), str(len(found)), f"{statistics.geometric_mean(found):.3f}", *counted])
    behind = sorted((row for row in rows if row["ratio"] > 1.05), key=lambda row: -row["ratio"])
    cells = [
        [
            *(row["algorithm"], row["graph"], str(row["threads"]), f"{row['default_ms']:.2f}"),
            *(f"{row['ratio']:.2f}", f"`{row['best']}`"),
        ]
        for row in behind
    ]
    note = f"{content['method'].get('note', '')}.".removeprefix(".").capitalize()
    tables = (
        harness.table(["threads", "cells", "geometric mean", "above 1.05", "above 1.25"], means),
        harness.table(["algorithm", "graph", "threads", "default ms", "over the best", "the best"], cells),
    )
    return "\n\n".join(filter(None, (note, *tables)))


def read_build(content: dict[str, Any]) -> str:
    """Seconds, edges a second and peak memory of each way, and how many times as long others take as vgraph."""
    found = content["results"]
    lines = []
    for name, result in found.items():
        what, _, who = name.partition(": ")
        peak = result["peak_over_final"]
        over = result["seconds"] / found[f"{what}: vgraph"]["seconds"]
        lines.append(
            [
                *(what, who, f"{result['seconds']:.2f}", f"{result['edges_per_second'] / 1e6:.1f}"),
                *("" if peak is None else f"{peak:.2f}", "" if who == "vgraph" else f"{over:.2f}"),
            ]
        )
    header = ["what", "by", "s", "M edges/s", "peak over final", "its time over vgraph's"]
    note = f"{content['edges']:,} edges, {content['vertices']:,} vertices, {content['repeats']} runs"
    note += f"; {content['note']}."
    return f"{note}\n\n{harness.table(header, lines)}"


FILES = {"cells": "cpu", "readme": "cpu", "scaling": "cpu", "calls": "rounds"}
"""Sections made from the result file of another."""
SECTIONS: dict[str, Callable[[dict[str, Any]], str]] = {
    "floors": floors,
    "cpu": cpu_report.page,
    "cells": cpu_report.lost,
    "scaling": cpu_report.scaling,
    "readme": cpu_report.short,
    "rounds": cpu_report.rounds,
    "calls": cpu_report.calls,
    "tuning": tuning,
    "read_build": read_build,
    "startup": startup,
    "library_before": earlier,
    "forms": forms,
    "library": library_report.page,
    "partition": partition,
    "partition_kahip": partition,
    "partition_large": partition,
    "walshaw": walshaw,
    "edge_partition": edge_partition,
    "flows": flows,
    "conflicts": conflicts,
    "factorization": factorization,
    "gpu_peers": gpu_peers,
    "gpu_locality": gpu_locality,
    "cpu_locality": cpu_locality,
    "factorization_gpu": factorization_gpu,
}


def where_made(content: dict[str, Any]) -> str:
    machine, versions = content["machine"], content["versions"]
    memory = f"{machine['memory_bytes'] / 2**30:.0f} GiB"
    load = f"load average before the end {machine['load_average']:.1f}"
    note = f" ({machine['note']})" if "note" in machine else ""
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"{content['date'][:10]}, {machine['cpu']}, {machine['cores']} cores{note}, {memory}, {load}; {named}."


def cuda_section(name: str, results: Path) -> str:
    """A part of `cuda.json`, or the summary of the sanitizer."""
    path = results / "sanitizer.json"
    if name == "sanitizer":
        if not path.exists():
            return "Not run yet: `python benchmarks/sanitizer.py`.\n"
        return f"{cuda_report.sanitizer(json.loads(path.read_text()))}\n"
    path = results / "cuda.json"
    part = "headline" if name == "readme" else name
    runs = json.loads(path.read_text())["parts"].get(part) if path.exists() else None
    if not runs:
        return f"Not measured yet: `python benchmarks/gpu.py --parts {part}` writes this table's figures.\n"
    if name == "readme":  # the two graphs that others have measured
        runs = [run for run in runs if run["rows"] and run["rows"][0]["graph"] in ("rmat22", "road2048")]
    return f"{cuda_report.part(runs, cuda_report.PARTS[name])}\n"


def section(name: str, results: Path) -> str:
    if name.startswith("cuda_"):
        return cuda_section(name.removeprefix("cuda_"), results)
    path = results / f"{FILES.get(name, name)}.json"
    if not path.exists():
        return f"Not measured yet: `python benchmarks/{path.stem}.py` writes this table's figures.\n"
    content = json.loads(path.read_text())
    return f"{where_made(content)}\n\n{SECTIONS[name](content)}\n"


def fill(text: str, results: Path) -> str:
    """`text` with every marked section made anew from the result files."""
    return MARKED.sub(lambda found: found[1] + section(found[2], results) + found[3], text)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if out of date")
    options = parser.parse_args(arguments)
    stale = False
    for page in PAGES:
        text = page.read_text()
        filled = fill(text, harness.RESULTS)
        stale |= text != filled
        if not options.check:
            page.write_text(filled)
    if options.check:
        sys.exit(stale)


if __name__ == "__main__":
    main()

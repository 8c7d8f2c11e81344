"""Measuring: interleaved blocks, medians, and result files that say where they were made."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

os.environ.setdefault("VGRAPH_OPT", "3")  # no drafts: what is measured is optimised from its first run on

RESULTS = Path(__file__).parent / "results"
AUTOGROUP = Path("/proc/self/autogroup")
Side = Callable[[], Sequence[float]]


@dataclass(frozen=True)
class Sample:
    """Seconds of one side: the median of its blocks' medians, and the fastest and slowest block."""

    median: float
    low: float
    high: float
    blocks: int

    @staticmethod
    def of(seconds: Sequence[float]) -> Sample:
        return Sample(statistics.median(seconds), min(seconds), max(seconds), len(seconds))


def interleave(
    sides: Mapping[str, Side], blocks: int, first: Mapping[str, Sequence[float]] | None = None
) -> dict[str, Sample]:
    """Run the sides in turn, A B C A B C ..., so that drift hits all of them alike.

    A side warms itself up and returns the seconds of its timed trials; their median is the block's. `first`: blocks
    that were run before.
    """
    taken: dict[str, list[float]] = {name: [*(first or {}).get(name, ())] for name in sides}
    for _ in range(blocks):
        for name, side in sides.items():
            taken[name].append(statistics.median(side()))
    return {name: Sample.of(seconds) for name, seconds in taken.items()}


def first_in_line() -> bool:
    """Ask the scheduler to prefer this session over others; True when granted.

    Where sessions are scheduled in groups (Linux autogroup), `nice` does not count between them. Only the
    leader of a session asks (start with `setsid --wait python ...`), so that no interactive shell is changed.
    """
    if not AUTOGROUP.exists() or os.getsid(0) != os.getpid():
        return False
    try:
        AUTOGROUP.write_text("-20")
    except OSError:
        return False
    return True


def environment() -> dict[str, Any]:
    """Machine, versions, commit, date and load: what a figure is worthless without."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "cpu": _cpu_model(),
            "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "system": f"{platform.system()} {platform.machine()}",
            "load_average": os.getloadavg()[0],
        },
        "versions": {"python": platform.python_version(), "vgraph_commit": _commit(), **_installed()},
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    named = {key.strip(): value.strip() for key, value in fields.items()}
    family = f"family {named['cpu family']} model {named['model']}" if "cpu family" in named else ""
    return f"{named.get('model name', platform.machine())} {family}".strip()


def _commit() -> str:
    """Of this tree; where it has no history, the variable BENCHMARK_COMMIT says it."""
    if "BENCHMARK_COMMIT" in os.environ:
        return os.environ["BENCHMARK_COMMIT"][:12]
    command = ["git", "-C", str(RESULTS.parent), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _installed() -> dict[str, str]:
    found = {}
    for name in (
        "vgraph",
        "numpy",
        "scipy",
        "llvmlite",
        "networkx",
        "networkit",
        "python-graphblas",
        "igraph",
    ):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def write_results(path: Path, rows: Sequence[Any], **more: Any) -> None:
    """Write the environment, what else is given, and rows (dataclasses or mappings), a line each, as one JSON file."""
    plain = [json.dumps(row if isinstance(row, Mapping) else asdict(row)) for row in rows]
    head = json.dumps({**environment(), **more, "rows": []}, indent=1).removesuffix("]\n}")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(head + "\n" + ",\n".join(plain) + "\n]\n}\n")
    partial.replace(path)
    print(f"wrote {path}", file=sys.stderr)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; columns are as wide as their widest cell."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [list(header), ["-" * width for width in widths], *map(list, rows)]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in lines
    )

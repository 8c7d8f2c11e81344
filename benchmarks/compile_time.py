"""How long a program takes to compile, against its length: where the time goes, and whether it stays linear.

    python benchmarks/compile_time.py  # writes results/compile_time.json and, as a plot, compile_time.svg

Each figure is the processor time of a stage, the median of `--repeats` compilations, for the CPU and any number of
threads. `benchmarks/long_programs.py` has the programs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import harness
import long_programs

import vgraph as vg
from vgraph.compiler.backends import jit
from vgraph.compiler.facts import Facts
from vgraph.compiler.frontend import build_program
from vgraph.compiler.frontend import unit as frontend_unit
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.verify import verify
from vgraph.compiler.passes import PIPELINE
from vgraph.language.decorators import AlgorithmDef
from vgraph.runtime.devices.cpu import backend
from vgraph.runtime.executor import signature_of

SIZES: dict[str, tuple[int, ...]] = {
    "statements": (125, 250, 500, 1000, 2000),
    "branches": (75, 150, 300, 600, 1200),
    "calls": (60, 125, 250, 500, 1000),
    "helpers": (8, 9, 10, 11, 12),
    "loops": (25, 50, 100, 200, 400),
    "properties": (10, 20, 40, 80, 160),
    "applies": (10, 20, 40, 80, 160),
    "driver": (60, 125, 250, 500, 1000),
}
STAGES = ("parse", "frontend", "passes", "verify", "emit", "llvm")


@dataclass(frozen=True)
class Row:
    """Milliseconds of the stages for a program with `size` of what its kind is named after, in `lines` of text.

    `seconds` is their sum, `instructions` the length of the LLVM IR.
    """

    kind: str
    size: int
    lines: int
    instructions: int
    seconds: float
    stages_ms: dict[str, float]


class Clock:
    """Adds up the processor time of stages."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)

    def time(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, whose time counts as that of `stage`."""

        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds[stage] += time.process_time() - start

        return timed


def compile_once(main: AlgorithmDef, graph: vg.Graph) -> tuple[dict[str, float], str]:
    """The seconds of all stages, and the LLVM IR."""
    clock, parse = Clock(), frontend_unit.parse
    frontend_unit.parse = clock.time("parse", parse)
    try:
        program = clock.time("frontend", build_program)(main, signature_of(graph, {}))
    finally:
        frontend_unit.parse = parse
    clock.seconds["frontend"] -= clock.seconds["parse"]
    check = clock.time("verify", verify)
    check(program)
    manager = PassManager(Context(vg.Schedule(), 0, Facts(), abilities=backend().abilities))
    for step in PIPELINE:
        program = clock.time("passes", manager.run)(program, (step,), verify=False)
        check(program, step.gives)
    source = clock.time("emit", backend().emit)(program)
    clock.time("llvm", jit.compile_ir)(source.text)
    return clock.seconds, source.text


def measure(kind: str, size: int, graph: vg.Graph, folder: Path, repeats: int) -> Row:
    """Compile a program `repeats` times."""
    text = long_programs.KINDS[kind](size)
    taken = [
        compile_once(long_programs.load(text, folder), graph) for _ in range(repeats)
    ]  # each is parsed anew
    stages = {stage: 1e3 * harness.Sample.of([s[stage] for s, _ in taken]).median for stage in STAGES}
    instructions = sum(line.startswith("  ") for line in taken[0][1].splitlines())
    return Row(kind, size, text.count("\n"), instructions, sum(stages.values()) / 1e3, stages)


def show(rows: Sequence[Any]) -> str:
    """The rows, as objects or as read from a result file, as a table."""
    plain = [row if isinstance(row, dict) else vars(row) for row in rows]
    header = ["program", "size", "lines", "LLVM instructions", "s", *(f"{stage} ms" for stage in STAGES)]
    cells = [
        [
            row["kind"],
            str(row["size"]),
            str(row["lines"]),
            str(row["instructions"]),
            f"{row['seconds']:.2f}",
            *(f"{row['stages_ms'][stage]:.0f}" for stage in STAGES),
        ]
        for row in plain
    ]
    return harness.table(header, cells)


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Seconds against the length of the LLVM IR, which counts inlined helpers, both logarithmic."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "vgraph"
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for kind in dict.fromkeys(row["kind"] for row in rows):
        own = [row for row in rows if row["kind"] == kind]
        axes.loglog(
            [row["instructions"] for row in own], [row["seconds"] for row in own], "o-", ms=4, label=kind
        )
    low, high = min(r["instructions"] for r in rows), max(r["instructions"] for r in rows)
    axes.loglog([low, high], [low * 1e-4, high * 1e-4], "--", color="grey", lw=1, label="0.1 ms each")
    axes.set_xlabel("LLVM instructions of the program")
    axes.set_ylabel("seconds to compile")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--kinds", default=",".join(SIZES), help="a,b,c")
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "compile_time.json")
    options = parser.parse_args(arguments)
    graph = vg.Graph.from_edges([0, 1], [1, 2], directed=True)
    with tempfile.TemporaryDirectory() as folder:
        measure("statements", 1, graph, Path(folder), 1)  # the first compilation loads LLVM and the parser
        rows = [
            measure(kind, size, graph, Path(folder), options.repeats)
            for kind in options.kinds.split(",")
            for size in SIZES[kind]
        ]
    print(show(rows))
    draw([vars(row) for row in rows], options.out.with_suffix(".svg"))
    harness.write_results(options.out, rows, method={"repeats": options.repeats, "clock": "process_time"})


if __name__ == "__main__":
    main()

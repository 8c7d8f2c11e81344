"""The four forms of one operator: pull, push, gather-apply, apply-scatter, each topology- and data-driven.

    setsid --wait python benchmarks/forms.py --graphs kron18,road --threads 1,2

Applications are those of the source (R. Kaleem, chapter 5): PageRank, BFS, SSSP, connected components by label
propagation. Two phases run one after the other, and as a pipeline (`--pipeline` chunks in flight). Every result is
checked against SciPy before it is timed. A side that takes longer than `--slow` seconds is run once only, and its row
says so. PageRank applies to all arcs, so it has no data-driven form.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import cases
import graphs
import harness
from cases import Instance

import vgraph as vg

FORMS: dict[str, dict[str, object]] = {
    "pull": {"direction": vg.PULL},
    "push": {"direction": vg.PUSH},
    "GA": {"phases": vg.GATHER_APPLY},
    "GA pipeline": {"phases": vg.GATHER_APPLY},
    "AS": {"phases": vg.APPLY_SCATTER},
    "AS per arc": {"phases": vg.APPLY_SCATTER, "payload": vg.COMPUTED},
    "AS pipeline": {"phases": vg.APPLY_SCATTER},
}
DRIVES = {"topology": vg.TOPOLOGY, "data": vg.DATA}


@dataclass(frozen=True)
class Application:
    """An algorithm, the label of the operator that takes the forms, its parameters and its check."""

    name: str
    algorithm: Any
    label: str
    check: Any
    data_driven: bool = True

    def run(self, instance: Instance, threads: int, schedule: vg.Schedule) -> Any:
        params: dict[str, Any] = {}
        if self.name in ("bfs", "sssp"):
            params["source"] = instance.data.source
        if self.name == "pagerank":
            params = {"damping": cases.DAMPING, "tolerance": 0.0, "max_rounds": cases.ROUNDS}
        return vg.run(self.algorithm, instance.graph, threads=threads, schedule=schedule, **params)


APPLICATIONS = (
    Application("pagerank", vg.algorithms.pagerank, "gather", cases.check_pagerank, data_driven=False),
    Application("bfs", vg.algorithms.bfs, "visit", cases.check_bfs),
    Application("sssp", vg.algorithms.sssp, "relax", cases.check_sssp),
    Application("components", vg.algorithms.label_components, "lower", cases.check_components),
)


@dataclass(frozen=True)
class Row:
    """One form of one application; milliseconds of the run, median of `blocks`. `ratio`: to the fastest form."""

    application: str
    graph: str
    vertices: int
    arcs: int
    threads: int
    form: str
    drive: str
    ms: float
    low_ms: float
    high_ms: float
    blocks: int
    ratio: float
    rounds: int
    arcs_walked: int
    schedule: str


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graphs", default="kron18,road", help="kronN, urandN, road, roadRxC")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--algorithms", default=",".join(a.name for a in APPLICATIONS))
    parser.add_argument("--pipeline", type=int, default=8, help="chunks in flight of the pipelines")
    parser.add_argument("--blocks", type=int, default=5, help="interleaved blocks; the median of them counts")
    parser.add_argument("--slow", type=float, default=10.0, help="sides above so many seconds run once")
    parser.add_argument("--cache", type=Path, help="folder that keeps the graphs (default: a temporary one)")
    parser.add_argument("--out", type=Path, default=harness.RESULTS / "forms.json")
    return parser.parse_args(arguments)


def schedules(application: Application, pipeline: int) -> dict[tuple[str, str], vg.Schedule]:
    """The schedule of each form and drive."""
    found = {}
    for form, options in FORMS.items():
        for drive, value in DRIVES.items():
            if drive == "data" and not application.data_driven:
                continue
            more = {"pipeline": pipeline} if form.endswith("pipeline") else {}
            found[form, drive] = vg.Schedule().at(application.label, drive=value, **options, **more)
    return found


def measure(
    options: argparse.Namespace, application: Application, instance: Instance, threads: int
) -> list[Row]:
    """All forms of one application, interleaved."""
    results: dict[str, Any] = {}
    samples: dict[str, harness.Sample] = {}
    sides: dict[str, harness.Side] = {}
    every = schedules(application, options.pipeline)
    for (form, drive), schedule in every.items():
        run = partial(application.run, instance, threads, schedule)
        result = results[f"{form}, {drive}"] = run()
        application.check(instance, result)
        if result.stats.run_seconds > options.slow:
            samples[f"{form}, {drive}"] = harness.Sample.of([result.stats.run_seconds])
        else:
            sides[f"{form}, {drive}"] = lambda run=run: [run().stats.run_seconds]
    samples |= harness.interleave(sides, options.blocks)
    best = min(s.median for s in samples.values())
    return [
        Row(
            application=application.name,
            graph=instance.data.name,
            vertices=instance.data.num_vertices,
            arcs=instance.data.num_edges,
            threads=threads,
            form=form,
            drive=drive,
            ms=samples[side].median * 1e3,
            low_ms=samples[side].low * 1e3,
            high_ms=samples[side].high * 1e3,
            blocks=samples[side].blocks,
            ratio=samples[side].median / best,
            rounds=results[side].stats.rounds,
            arcs_walked=results[side].stats.edges,
            schedule=str(results[side].schedule),
        )
        for form, drive in every
        for side in [f"{form}, {drive}"]
    ]


def run(options: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    for name in options.graphs.split(","):
        instance = Instance.of(graphs.make(name, options.cache))
        for threads in map(int, options.threads.split(",")):
            for application in APPLICATIONS:
                if application.name in options.algorithms.split(","):
                    found = measure(options, application, instance, threads)
                    rows += found
                    print(show(found), file=sys.stderr, flush=True)
    return rows


def show(rows: Sequence[Row]) -> str:
    header = ["application", "graph", "threads", "form", "drive", "ms", "to the best", "rounds"]
    cells = [
        [
            r.application, r.graph, str(r.threads), r.form, r.drive,
            f"{r.ms:.2f}" + (" (once)" if r.blocks == 1 else ""), f"{r.ratio:.2f}", str(r.rounds),
        ]
        for r in rows
    ]  # fmt: skip
    return harness.table(header, cells)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    preferred = harness.first_in_line()
    with tempfile.TemporaryDirectory(prefix="vgraph-benchmark-") as folder:
        options.cache = options.cache or Path(folder)
        rows = run(options)
    print(show(rows))
    how = {"blocks": options.blocks, "pipeline": options.pipeline, "preferred_session": preferred}
    harness.write_results(options.out, rows, method=how)


if __name__ == "__main__":
    main()

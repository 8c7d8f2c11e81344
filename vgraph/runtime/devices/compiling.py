"""Compiling a job now, and showing what the knobs ask for."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from vgraph.compiler import user_passes
from vgraph.compiler.analysis.numbering import (
    check_moving,
    check_numbering,
    moving_obstacle,
    numbering_obstacle,
)
from vgraph.config import knobs
from vgraph.errors import PassError

if TYPE_CHECKING:
    from vgraph.compiler import Compiled, Observer, ir
    from vgraph.compiler.ir.rewrite import Pass
    from vgraph.runtime.devices.compiled import CompiledRunner
    from vgraph.runtime.executor import Job


def compile_program(
    job: Job, runner: CompiledRunner, own: tuple[user_passes.UserPass, ...]
) -> tuple[Compiled, bool, bool]:
    """The text of a job's program for `runner`, made with these passes of the user's own; whether it may run in another
    order of vertices, and change to it on its way: refused here where the call asked for it."""
    name = job.algorithm.name
    stations: dict[str, str] = {}
    renumbers: list[bool] = []
    try:
        compiled = job.compiled(
            runner.backend,
            passes=user_passes.pipeline(own),
            observe=_observer(stations, renumbers, must=job.must_renumber),
        )
    except PassError:
        _show(name, str(job.schedule), "", runner, stations)
        raise
    _show(name, str(compiled.schedule), compiled.source.text, runner, stations)
    if job.must_renumber and job.overlap is not None:
        check_moving(compiled.kernel)
    return compiled, all(renumbers), moving_obstacle(compiled.kernel) is None


def _observer(stations: dict[str, str], renumbers: list[bool], *, must: bool) -> Observer:
    """Keep the IR of every station if the knobs ask for it; find out whether vertices may be renumbered, or `must`."""
    keeps = knobs().debug >= 4 or knobs().dump_dir is not None

    def observe(step: Pass | None, program: ir.Program) -> None:
        if step is not None and step.name == "simplify":
            if must:
                check_numbering(program)
            renumbers.append(numbering_obstacle(program) is None)
        if keeps:
            from vgraph.compiler.ir.text import print_program

            stations[step.name if step else "frontend"] = print_program(program)

    return observe


def _show(name: str, schedule: str, code: str, runner: CompiledRunner, stations: Mapping[str, str]) -> None:
    """Print and write what the VGRAPH_DEBUG and VGRAPH_DUMP_DIR knobs ask for."""
    level, folder = knobs().debug, knobs().dump_dir
    texts = {"schedule": schedule} if level >= 1 else {}
    texts |= {f"after {k}": v for k, v in stations.items()} if level >= 4 else {}
    texts |= {runner.language: code} if level >= 3 else {}
    for title, text in texts.items():
        print(f"== {name}: {title} ==\n{text}", file=sys.stderr)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for number, (station, text) in enumerate(stations.items()):
            (folder / f"{name}-{number}-{station}.ir").write_text(text, encoding="utf-8")
        (folder / f"{name}{runner.suffix}").write_text(code, encoding="utf-8")

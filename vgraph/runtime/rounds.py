"""An end for programs that may have none: a run of more than `max_rounds` rounds is an error."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from vgraph.compiler import ir
from vgraph.errors import AlgorithmError, ParameterError
from vgraph.runtime.progress import Progress, ProgressCallback
from vgraph.schedule import BSP, UNORDERED, Options, Schedule
from vgraph.schedule.record import show

if TYPE_CHECKING:
    from vgraph.runtime.executor import Job

_REPORT_SECONDS: Final = 0.1
"""Between two reports."""


def check_rounds(name: str, most: int, rounds: int, active: int) -> None:
    """End a run that had more than `most` rounds, `active` vertices in the last that was seen, with AlgorithmError."""
    if rounds > most:
        raise AlgorithmError(
            f"{name} has not ended after max_rounds={most:,} rounds; active vertices in the last one: {active:,} "
            "(docs/language.md, Programs that never end)"
        )


def limited(report: ProgressCallback | None, name: str, most: int) -> ProgressCallback:
    """`report`, but first it ends a run that had more than `most` rounds."""

    def check(progress: Progress) -> None:
        check_rounds(name, most, progress.rounds, progress.frontier_size)
        if report is not None:
            report(progress)

    return check


def each_round(report: ProgressCallback | None, most: int | None) -> Callable[[int, int], None]:
    """For a run that calls it at the end of each round, with its active vertices and its edges.

    It tells `report` ten times a second, and of each round after the first `most`.
    """
    start = last = time.monotonic()
    rounds = edges = 0

    def ended(active: int, walked: int) -> None:
        nonlocal last, rounds, edges
        rounds, edges = rounds + 1, edges + walked
        now = time.monotonic()
        late = now - last >= _REPORT_SECONDS or (most is not None and rounds > most)
        if report is not None and late:
            last = now
            report(Progress(rounds, active, edges, now - start))

    return ended


def with_rounds(job: Job) -> Schedule:
    """The job's schedule with rounds as they are written in the program, which is what counts.

    An order by buckets, asynchronous updates, hops, or tiles make one long round of many, which on a negative cycle
    never ends. Raises ParameterError where the schedule asks for that.
    """
    rests: dict[str, Any] = {"order": UNORDERED, "sync": BSP, "hops": 1, "tiles": 0}
    wanted = "debug= shows rounds" if job.max_rounds is None else "max_rounds= counts rounds"
    program, schedule = job.typed.program, job.schedule
    for label in sorted({n.label for n in ir.walk(program) if isinstance(n, ir.EdgeApply)}):
        asked = schedule.labels.get(label, Options()).given()
        for name, rest in rests.items():
            if asked.get(name, rest) != rest:
                raise ParameterError(
                    f"{wanted}, and {name}={show(asked[name])} at {label!r} makes one of many: leave either out"
                )
        schedule = schedule.at(label, **rests)
    return schedule

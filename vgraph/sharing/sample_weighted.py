"""Shares that are learned over repeated runs: each counts by the iterations that it saw (Kaleem et al. 2014)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from vgraph.records import dataclass
from vgraph.sharing.asym import Profiling
from vgraph.sharing.base import Division, Outcome, Policy, Work, Worker, rated
from vgraph.sharing.fixed import Ratio

STAYS: Final = 1.05
"""Vertices stay where they are as long as what is known by then would not save more: placing them anew takes longer
than many a run."""


def learned(past: Sequence[Outcome]) -> Iterator[tuple[float, ...]]:
    """`w * new + (1 - w) * old` run after run, with w = iterations of the run / all so far."""
    shares: tuple[float, ...] | None = None
    total = 0
    for outcome in past:
        new, seen = outcome.shares, sum(outcome.done)
        if new is None:
            continue
        w = 1.0 if shares is None else seen / (seen + total)
        shares = tuple(w * a + (1 - w) * b for a, b in zip(new, shares or new, strict=True))
        total += seen
        yield shares


@dataclass(frozen=True)
class SampleWeighted(Policy):
    """The first run profiles as ASYM does; every other splits at once by what all before have shown."""

    places = True

    def divide(self, work: Work, workers: Sequence[Worker], past: Sequence[Outcome]) -> Division:
        known = [*learned(past)]
        return Ratio(work, workers, known[-1]) if known else Profiling(work, workers)

    def shares(self, workers: Sequence[Worker], past: Sequence[Outcome]) -> tuple[float, ...]:
        placed = rated(workers)
        for known in learned(past):
            if max(a / b for a, b in zip(placed, known, strict=True)) > STAYS:
                placed = known
        return placed

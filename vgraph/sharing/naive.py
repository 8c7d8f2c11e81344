"""Naive profiling: all members run equally many iterations, wait for each other, and split the rest by their rates."""

from __future__ import annotations

from collections.abc import Sequence

from vgraph.records import dataclass
from vgraph.sharing.base import Division, Outcome, Policy, Work, Worker


class _Division(Division):
    def __init__(self, work: Work, workers: Sequence[Worker]) -> None:
        super().__init__(work, workers)
        self.profiled: set[int] = set()
        self.settled = False

    def next(self, member: int, now: float) -> range | None:
        if member not in self.profiled:
            self.profiled.add(member)
            return self.front(max(self.profile(k) for k in range(len(self.workers))))
        if not self.settled:
            if len(self.profiled) < len(self.workers) or not self.resting:
                return None
            self.settled = True
            self.split(self.rates(now))
        return self.own(member)


@dataclass(frozen=True)
class Naive(Policy):
    """5 % of the iterations to each, a barrier, and the rest by the rates that were seen."""

    def divide(self, work: Work, workers: Sequence[Worker], past: Sequence[Outcome]) -> Division:
        return _Division(work, workers)

"""Asymmetric profiling: while other members run a part that is large enough for them, the first takes iterations from
a pool; nobody waits. When they are back, what is left is split by the rates (Kaleem et al. 2014)."""

from __future__ import annotations

from collections.abc import Sequence

from vgraph.records import dataclass
from vgraph.sharing.base import Division, Outcome, Policy, Work, Worker


class Profiling(Division):
    """Profiles until `settled`, then splits what is left; the first member has the pool."""

    def __init__(self, work: Work, workers: Sequence[Worker]) -> None:
        super().__init__(work, workers)
        self.away = set(range(1, len(workers)))
        """Members whose first part is not done."""
        self.fixed = len(workers) == 1

    def next(self, member: int, now: float) -> range | None:
        if not self.fixed and member and self.done[member]:
            self.away.discard(member)
            if not self.away and self.settled(self.rates(now)):
                self.fixed = True
                self.split(self.rates(now))
        if self.fixed:
            return self.own(member) or self.front(self.workers[member].width)
        return self.front(self.part(member) if member else self.workers[0].width)

    def part(self, member: int) -> int:
        """What a member other than the first gets while rates are being measured."""
        return self.profile(member)

    def settled(self, rates: Sequence[float]) -> bool:
        """Whether the rates are good enough to split what is left."""
        return True


@dataclass(frozen=True)
class Asym(Policy):
    """One profile."""

    def divide(self, work: Work, workers: Sequence[Worker], past: Sequence[Outcome]) -> Division:
        return Profiling(work, workers)

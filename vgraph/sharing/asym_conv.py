"""Asymmetric profiling, repeated until the shares converge."""

from __future__ import annotations

from collections.abc import Sequence

from vgraph.records import dataclass
from vgraph.sharing.asym import Profiling
from vgraph.sharing.base import Division, Outcome, Policy, Work, Worker, normalised


class Converging(Profiling):
    """Half of what is left is used to measure again, until shares move by less than `LIMIT`."""

    LIMIT = 0.05

    def __init__(self, work: Work, workers: Sequence[Worker]) -> None:
        super().__init__(work, workers)
        self.shares: tuple[float, ...] = ()

    def part(self, member: int) -> int:
        if not self.shares:
            return self.profile(member)
        return max(self.workers[member].width, round(self.shares[member] * self.left / 2))

    def settled(self, rates: Sequence[float]) -> bool:
        before, self.shares = self.shares, normalised(rates)
        return bool(before) and all(abs(a - b) < self.LIMIT for a, b in zip(before, self.shares, strict=True))


@dataclass(frozen=True)
class AsymConv(Policy):
    """Profiles until the shares settle."""

    def divide(self, work: Work, workers: Sequence[Worker], past: Sequence[Outcome]) -> Division:
        return Converging(work, workers)

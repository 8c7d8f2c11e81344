"""Asymmetric profiling, repeated until half of the iterations are done."""

from __future__ import annotations

from collections.abc import Sequence

from vgraph.records import dataclass
from vgraph.sharing.asym import Profiling
from vgraph.sharing.base import Division, Outcome, Policy, Work, Worker


class Half(Profiling):
    """Rates are measured until half of the iterations are done."""

    def settled(self, rates: Sequence[float]) -> bool:
        return 2 * sum(self.done) >= self.work.count


@dataclass(frozen=True)
class AsymSize(Policy):
    """Profiles until half of the iterations are done."""

    def divide(self, work: Work, workers: Sequence[Worker], past: Sequence[Outcome]) -> Division:
        return Half(work, workers)

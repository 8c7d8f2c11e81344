"""Greedy: the next task to the first member that is idle."""

from __future__ import annotations

from collections.abc import Sequence

from vgraph.records import dataclass
from vgraph.sharing.base import Division, Outcome, Policy, Work, Worker
from vgraph.sharing.shared_queue import Queue


@dataclass(frozen=True)
class Greedy(Policy):
    """As many iterations as a member has threads, whenever it has none: the best balance, and the most asking."""

    def divide(self, work: Work, workers: Sequence[Worker], past: Sequence[Outcome]) -> Division:
        return Queue(work, workers, 0)

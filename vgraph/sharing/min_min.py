"""Min-min: again and again the task that can end first, to the member on which it does; before anything runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vgraph.records import dataclass
from vgraph.sharing.base import Division, Outcome, Policy, Work, Worker, known_shares

TASKS = 4096
"""Iterations are grouped where there are more."""


class _Division(Division):
    def __init__(self, work: Work, workers: Sequence[Worker], speeds: Sequence[float]) -> None:
        super().__init__(work, workers)
        size = -(-work.count // TASKS)
        tasks = [range(k, min(k + size, work.count)) for k in range(0, work.count, size or 1)]
        weight = np.ones(work.count) if work.arcs is None else work.arcs + 1.0
        sizes = [float(weight[t.start : t.stop].sum()) for t in tasks]
        ready = np.zeros(len(workers))
        # members differ by a factor, so the smallest task that is left can end first on every one of them
        for k in sorted(range(len(tasks)), key=sizes.__getitem__):
            ends = ready + sizes[k] / np.asarray(speeds)
            best = int(ends.argmin())
            ready[best] = ends[best]
            self.queues[best].append(tasks[k])

    def next(self, member: int, now: float) -> range:
        return self.own(member)


@dataclass(frozen=True)
class MinMin(Policy):
    """Sizes are the arcs at the iterations' vertices, if they have any; speeds are those of the last run, if any."""

    def divide(self, work: Work, workers: Sequence[Worker], past: Sequence[Outcome]) -> Division:
        return _Division(work, workers, known_shares(workers, past))

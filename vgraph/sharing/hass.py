"""HASS: rounds of bundles with stealing, after which the ratio is adapted to what each member did."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from vgraph.records import dataclass
from vgraph.sharing.base import Division, Outcome, Policy, Work, Worker, check, normalised


class _Division(Division):
    """The first member works from a buffer, sub-load by sub-load; others get theirs in a bundle, and steal from it."""

    def __init__(self, work: Work, workers: Sequence[Worker], rounds: int) -> None:
        super().__init__(work, workers)
        self.load = max(sum(w.width for w in workers), -(-work.count // rounds))
        self.profiled: set[int] = set()
        self.buffer: deque[range] = deque()
        self.ratios: list[tuple[float, ...]] = []
        """Of each round; the last one stays once two have agreed."""
        self.before = [0] * len(workers)

    def next(self, member: int, now: float) -> range | None:
        if member not in self.profiled:
            self.profiled.add(member)
            return self.front(self.workers[member].width)
        if piece := self.own(member):
            return piece
        if self.buffer:
            return self.buffer.pop() if member else self.buffer.popleft()
        if not self.left:
            return range(0)
        if len(self.profiled) < len(self.workers) or not self.resting or any(self.queues):
            return None
        self.round(now)
        return self.own(member) or (self.buffer.popleft() if self.buffer else None)

    def round(self, now: float) -> None:
        """Adapt the ratio, and put the next load into bundles and buffer."""
        if not self.ratios:
            self.ratios.append(normalised(self.rates(now)))
        elif not self.settled:
            self.ratios.append(normalised(np.subtract(self.done, self.before).tolist()))
        self.before = list(self.done)
        load = min(self.load, self.left)
        ends = np.rint(np.cumsum(self.ratios[-1]) * load).astype(int)
        first, *others = np.diff(ends, prepend=0).tolist()
        for queue, size in zip(self.queues[1:], others, strict=True):
            if piece := self.front(size):
                queue.append(piece)
        width, last = self.workers[0].width, self.head + first
        while self.head < last:
            self.buffer.append(self.front(min(width, last - self.head)))

    @property
    def settled(self) -> bool:
        """Whether two rounds had the same ratio, to a sub-load."""
        if len(self.ratios) < 2:
            return False
        near = self.workers[0].width / self.load
        return all(abs(a - b) <= near for a, b in zip(*self.ratios[-2:], strict=True))


@dataclass(frozen=True)
class Hass(Policy):
    """A loop in so many rounds."""

    rounds: int = 8

    def divide(self, work: Work, workers: Sequence[Worker], past: Sequence[Outcome]) -> Division:
        ok = isinstance(self.rounds, int) and self.rounds >= 1
        check(ok, "rounds", self.rounds, "an int of at least 1")
        return _Division(work, workers, self.rounds)

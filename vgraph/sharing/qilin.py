"""Qilin: a line for each member, seconds = a + b * iterations, fitted to a training part (Luk, Hong and Kim 2009)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vgraph.records import dataclass
from vgraph.sharing.base import Division, Outcome, Policy, Work, Worker, check


class _Division(Division):
    """Every member runs two parts of the training, one twice the other; then all split the rest by the lines."""

    def __init__(self, work: Work, workers: Sequence[Worker], train: float) -> None:
        super().__init__(work, workers)
        each = train * work.count / len(workers)
        self.sizes = (max(1, int(each / 3)), max(1, int(each * 2 / 3)))
        self.points: list[list[tuple[int, float]]] = [[] for _ in workers]
        self.last = [(0, 0.0)] * len(workers)
        self.settled = False

    def next(self, member: int, now: float) -> range | None:
        points, (done, busy) = self.points[member], self.last[member]
        if self.done[member] > done:
            if len(points) < len(self.sizes):
                points.append((self.done[member] - done, self.busy[member] - busy))
            self.last[member] = self.done[member], self.busy[member]
        if len(points) < len(self.sizes) and self.left:
            return self.front(self.sizes[len(points)])
        if not self.settled:
            if not self.resting:
                return None
            self.settled = True
            self.split(self.shares())
        return self.own(member)

    def shares(self) -> list[float]:
        """Those with which all are predicted to end at the same time."""
        lines = [_line(p) for p in self.points]
        low, high = 0.0, max(a + b * self.left for a, b in lines)
        for _ in range(60):
            end = (low + high) / 2
            enough = sum(max(0.0, (end - a) / b) for a, b in lines) >= self.left
            low, high = (low, end) if enough else (end, high)
        found = [max(0.0, (high - a) / b) for a, b in lines]
        return found if sum(found) > 0 else [1.0] * len(lines)


def _line(points: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """What is fixed, and what each iteration takes: by least squares, neither below 0."""
    n, t = np.array(points or [(1, 1.0)], np.float64).T
    slope, least = float(t.sum() / n.sum()), 1e-12
    if len(points) > 1 and n[0] != n[-1]:
        b, a = np.polyfit(n, t, 1)
        if a >= 0 and b > 0:
            return float(a), max(least, float(b))
    return 0.0, max(least, slope)


@dataclass(frozen=True)
class Qilin(Policy):
    """`train` is the share of the iterations that the lines are fitted to: 1.0 is the source's full training."""

    train: float = 0.3

    def divide(self, work: Work, workers: Sequence[Worker], past: Sequence[Outcome]) -> Division:
        check(0 < self.train <= 1, "train", self.train, "a number above 0, up to 1")
        return _Division(work, workers, self.train)

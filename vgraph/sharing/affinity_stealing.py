"""Chunks by affinity, and stealing: from members of the own kind first, from others when all of these have nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vgraph.records import dataclass
from vgraph.sharing.base import Outcome, Policy, Work, Worker, check, known_shares
from vgraph.sharing.chunk_affinity import Chunks, Rank


class _Stealing(Chunks):
    """`attempts`: successors that are asked before a member gives up; 0: all, those of other kinds last."""

    def __init__(
        self, work: Work, workers: Sequence[Worker], shares: Sequence[float], rank: Rank, attempts: int
    ) -> None:
        super().__init__(work, workers, shares, rank)
        check(attempts >= 0, "attempts", attempts, "an int of at least 0")
        self.attempts = attempts

    def next(self, member: int, now: float) -> range:
        if piece := self.own(member):
            return piece
        for victim in self.victims(member):
            if self.queues[victim]:
                return self.queues[victim].pop()  # what suits its owner least
        return range(0)

    def victims(self, member: int) -> Iterator[int]:
        count = len(self.workers)
        ring = [(member + k) % count for k in range(1, count)]
        own = [k for k in ring if self.workers[k].kind == self.workers[member].kind]
        if self.attempts:
            yield from own[: self.attempts]
            return
        yield from own
        yield from (k for k in ring if k not in own)


@dataclass(frozen=True)
class AffinityStealing(Policy):
    """`attempts`: 1 and 3 are the source's steal-successor-one and -three, 0 is steal-all."""

    attempts: int = 0
    rank: Rank = "arcs"

    def divide(self, work: Work, workers: Sequence[Worker], past: Sequence[Outcome]) -> Chunks:
        return _Stealing(work, workers, known_shares(workers, past), self.rank, self.attempts)

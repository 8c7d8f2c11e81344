"""One queue, from which everybody takes chunks of one size."""

from __future__ import annotations

from collections.abc import Sequence

from vgraph.records import dataclass
from vgraph.sharing.base import Division, Outcome, Policy, Work, Worker


class Queue(Division):
    """The next chunk to whoever asks; 0: as many as the member has threads."""

    def __init__(self, work: Work, workers: Sequence[Worker], chunk: int) -> None:
        super().__init__(work, workers)
        self.chunk = chunk

    def next(self, member: int, now: float) -> range:
        return self.front(self.chunk or self.workers[member].width)


@dataclass(frozen=True)
class SharedQueue(Policy):
    """Chunks of the profile's size."""

    def divide(self, work: Work, workers: Sequence[Worker], past: Sequence[Outcome]) -> Division:
        made = Queue(work, workers, 1)
        made.chunk = max(made.profile(k) for k in range(len(workers)))
        return made

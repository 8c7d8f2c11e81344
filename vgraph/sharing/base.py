"""What a policy is that divides a loop over the members of a set: one interface, and what all policies share.

Nothing here knows of devices. Whoever runs the loop asks the `Division` for iterations whenever a member has none, and
tells the time: a run with the clock, a simulation with a time of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import ParameterError, shown
from vgraph.records import dataclass

PROFILE: Final = 0.05
"""The share of a loop's iterations that is enough to see how fast a member is."""


@dataclass(frozen=True)
class Worker:
    """A member as policies see it."""

    name: str
    width: int = 1
    """Iterations that it wants at least, to be fully used."""
    speed: float = 1.0
    """What is thought of it before it has done anything, beside others: its threads."""
    kind: str = ""
    """Members of one kind are like each other."""


@dataclass(frozen=True, eq=False)
class Work:
    """A loop: how many iterations, and of each the arcs at its vertex, if it has one."""

    count: int
    arcs: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Outcome:
    """What an earlier run of the same loop on the same members did: iterations and seconds of each member, from first
    to last. Of a placement the vertices and arcs owned are its iterations."""

    done: tuple[int, ...]
    seconds: tuple[float, ...]
    makespan: float

    @property
    def shares(self) -> tuple[float, ...] | None:
        """What each member could do of the whole in the same time; None if one did nothing."""
        if not all(n > 0 and t > 0 for n, t in zip(self.done, self.seconds, strict=True)):
            return None
        return normalised([n / t for n, t in zip(self.done, self.seconds, strict=True)])


class Policy(ABC):
    """How a loop is divided; a value without a state."""

    places: ClassVar[bool] = False
    """Whether `shares` says before a run how much each member gets, so that placements can follow it, too."""

    @abstractmethod
    def divide(self, work: Work, workers: Sequence[Worker], past: Sequence[Outcome]) -> Division:
        """Divide a loop; `past` is what earlier runs did, oldest first."""

    def shares(self, workers: Sequence[Worker], past: Sequence[Outcome]) -> tuple[float, ...]:
        """The share of each member in a placement, where the policy `places`."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__


class Division(ABC):
    """A loop under way: who has done what, and what is left."""

    def __init__(self, work: Work, workers: Sequence[Worker]) -> None:
        self.work, self.workers = work, workers
        self.head = 0
        """The first iteration that nobody has been given."""
        self.queues: list[deque[range]] = [deque() for _ in workers]
        """What is set aside for each member."""
        self.running: list[tuple[range, float] | None] = [None] * len(workers)
        self.done = [0] * len(workers)
        self.busy = [0.0] * len(workers)

    def take(self, member: int, now: float) -> range | None:
        """What a member that has nothing to do gets at a time in seconds: some iterations; none, for it is done; None:
        it has to ask again when another member has."""
        if (ran := self.running[member]) is not None:
            self.done[member] += len(ran[0])
            self.busy[member] += now - ran[1]
            self.running[member] = None
        found = self.next(member, now)
        if found:
            self.running[member] = found, now
        return found

    @abstractmethod
    def next(self, member: int, now: float) -> range | None:
        """As `take`, which has noted what the member has done."""

    # --- what policies are made of

    @property
    def left(self) -> int:
        """Iterations that nobody has been given, nor were set aside."""
        return self.work.count - self.head

    def front(self, count: int) -> range:
        """The next iterations, so many if there are."""
        first = self.head
        self.head = min(self.work.count, first + max(0, count))
        return range(first, self.head)

    def profile(self, member: int) -> int:
        """How many iterations tell how fast a member is."""
        return max(self.workers[member].width, round(PROFILE * self.work.count))

    def split(self, shares: Sequence[float]) -> None:
        """Set aside for each member its share of what is left."""
        ends = np.rint(np.cumsum(shares) / np.sum(shares) * self.left).astype(int)
        for queue, size in zip(self.queues, np.diff(ends, prepend=0).tolist(), strict=True):
            if piece := self.front(size):
                queue.append(piece)

    def own(self, member: int) -> range:
        """What is set aside for a member."""
        return self.queues[member].popleft() if self.queues[member] else range(0)

    def rates(self, now: float) -> list[float]:
        """Iterations for each second, as far as they are known: one under way counts as done."""
        found = []
        for k, ran in enumerate(self.running):
            done, busy = self.done[k], self.busy[k]
            if not done and ran is not None:
                done, busy = len(ran[0]), now - ran[1]
            found.append(done / busy if busy > 0 else self.workers[k].speed)
        return found

    @property
    def resting(self) -> bool:
        """Whether no member has anything."""
        return all(ran is None for ran in self.running)


def check(ok: bool, name: str, value: object, wanted: str) -> None:
    """Raise ParameterError for a policy's parameter that is not what is `wanted`."""
    if not ok:
        raise ParameterError(f"{name}={shown(value)}: {wanted}")


def normalised(values: Iterable[float]) -> tuple[float, ...]:
    """Shares that add up to 1."""
    found = [float(v) for v in values]
    whole = sum(found)
    return tuple(v / whole for v in found)


def rated(workers: Sequence[Worker]) -> tuple[float, ...]:
    """Shares by what is known before anything has run."""
    return normalised(w.speed for w in workers)


def known_shares(workers: Sequence[Worker], past: Sequence[Outcome]) -> tuple[float, ...]:
    """Shares by the speeds of the last run in which all members had something to do, else as rated."""
    return next((s for o in reversed(past) if (s := o.shares) is not None), rated(workers))

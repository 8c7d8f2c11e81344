"""Chunks go to the kind of member that they suit: ranked by arcs, the lowest to the first member, up to its share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from vgraph.records import dataclass
from vgraph.sharing.base import Division, Outcome, Policy, Work, Worker, check, known_shares

CHUNK: Final = 256
"""Iterations of a chunk in long loops; short ones have sixteen chunks for each member."""
Rank = Literal["arcs", "variance"]


def affinities(work: Work, chunk: int, rank: Rank) -> NDArray[np.float64]:
    """What speaks for members that do much at once, of each chunk: many arcs, or arcs that are spread evenly."""
    starts = np.arange(0, work.count, chunk)
    if work.arcs is None or not work.count:
        return np.zeros(len(starts))
    arcs = work.arcs.astype(np.float64)
    sizes = np.diff(np.append(starts, work.count))
    mean = np.add.reduceat(arcs, starts) / sizes
    if rank == "arcs":
        return mean
    found: NDArray[np.float64] = mean**2 - np.add.reduceat(arcs**2, starts) / sizes
    return found


class Chunks(Division):
    """Each member has a queue of chunks, those first that suit it best."""

    def __init__(self, work: Work, workers: Sequence[Worker], shares: Sequence[float], rank: Rank) -> None:
        super().__init__(work, workers)
        check(rank in get_args(Rank), "rank", rank, " or ".join(map(repr, get_args(Rank))))
        chunk = max(1, min(CHUNK, work.count // (16 * len(workers))))
        order = np.argsort(affinities(work, chunk, rank), kind="stable")
        ends = np.rint(np.cumsum(shares) / np.sum(shares) * len(order)).astype(int)
        for k, (queue, mine) in enumerate(zip(self.queues, np.split(order, ends[:-1]), strict=True)):
            ranked = mine if k == 0 else mine[::-1]
            queue.extend(range(c * chunk, min((c + 1) * chunk, work.count)) for c in ranked.tolist())

    def next(self, member: int, now: float) -> range:
        return self.own(member)


@dataclass(frozen=True)
class ChunkAffinity(Policy):
    """No chunk changes its member: how many the first has is the threshold."""

    rank: Rank = "arcs"

    def divide(self, work: Work, workers: Sequence[Worker], past: Sequence[Outcome]) -> Division:
        return Chunks(work, workers, known_shares(workers, past), self.rank)

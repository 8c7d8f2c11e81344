"""A fixed ratio."""

from __future__ import annotations

from collections.abc import Sequence

from vgraph.errors import ParameterError, shown
from vgraph.records import dataclass
from vgraph.sharing.base import Division, Outcome, Policy, Work, Worker


class Ratio(Division):
    """Each member gets its share at once."""

    def __init__(self, work: Work, workers: Sequence[Worker], shares: Sequence[float]) -> None:
        super().__init__(work, workers)
        self.split(shares)

    def next(self, member: int, now: float) -> range:
        return self.own(member)


@dataclass(frozen=True)
class FixedRatio(Policy):
    """Shares as given."""

    places = True
    parts: tuple[float, ...]

    def divide(self, work: Work, workers: Sequence[Worker], past: Sequence[Outcome]) -> Division:
        return Ratio(work, workers, self.shares(workers, past))

    def shares(self, workers: Sequence[Worker], past: Sequence[Outcome]) -> tuple[float, ...]:
        if len(self.parts) != len(workers):
            text = f"fixed_ratio has {len(self.parts)} shares, and the set {len(workers)} members"
            raise ParameterError(text)
        return self.parts


def fixed_ratio(*parts: float) -> FixedRatio:
    """The policy that gives members shares in these proportions: `share=vg.fixed_ratio(3, 1)`.

    Raises ParameterError for a part that is no number of at least 0, if all are 0, or their sum is not finite.
    """
    ok = all(isinstance(p, int | float) and not isinstance(p, bool) and p >= 0 for p in parts)
    if not ok or not 0 < sum(map(float, parts)) < float("inf"):
        raise ParameterError(f"fixed_ratio{shown(parts)}: numbers of at least 0, and one above")
    return FixedRatio(tuple(map(float, parts)))

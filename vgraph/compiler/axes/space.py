"""The space of schedules of a program: what may be asked for, what of it is legal, and which line forbids the rest.

Nothing here knows a rule: the resolvers of the axes are asked, one combination after the other. What is worth a try
stands in the records of the axes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Final

from vgraph.compiler.axes.base import Apply, Traversal
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.choose_schedule import choose_schedule, labels
from vgraph.compiler.rewrite import PassManager, walk
from vgraph.errors import ScheduleError
from vgraph.schedule import AXES, DECIDED, SHAPING, ApplySchedule, Options, Schedule

if TYPE_CHECKING:
    from vgraph.compiler.ir import Program
    from vgraph.compiler.rewrite import Context
    from vgraph.source import Span

Resolved = tuple[ApplySchedule, ...]
"""The complete schedules of all applies of one label."""


def ready(program: Program, context: Context) -> Program:
    """A program as the frontend gives it, after the passes that come before the choice of a schedule."""
    return PassManager(context).run(program, PIPELINE[: PIPELINE.index(choose_schedule)])


# --- one axis at a time ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """Whether `value` of `axis` may be asked for at a label.

    `refusal` is the error it gives when nothing else is asked for, None if it is legal. `needs` holds one or two other
    options with which it is legal after all.
    """

    axis: str
    value: object
    refusal: ScheduleError | None = None
    needs: tuple[tuple[str, object], ...] = ()

    @property
    def legal(self) -> bool:
        """True if nothing forbids it, or an option that it needs makes it legal."""
        return self.refusal is None or bool(self.needs)

    @property
    def reason(self) -> str:
        """Why it is refused; an empty string where it is not."""
        return "" if self.refusal is None else str(getattr(self.refusal, "reason", self.refusal))

    @property
    def span(self) -> Span | None:
        """The line that forbids it, if the program came from source text."""
        return getattr(self.refusal, "span", None)


Point = tuple[int, ...]
"""A combination of options: for each axis of `DECIDED` the number of a candidate, -1 where nothing is asked for."""
ANY: Final[Point] = (-1,) * len(DECIDED)


class Label:
    """One label of a program, and what has been asked about it so far."""

    def __init__(self, program: Program, name: str, context: Context) -> None:
        applies = (n for n in walk(program) if isinstance(n, Apply) and n.label == name)
        self.applies = [Traversal(program, n, context) for n in applies]
        self.known: dict[Point, tuple[Resolved, ScheduleError | None]] = {}

    def attempt(self, options: Options) -> tuple[Resolved, ScheduleError | None]:
        """What `options` mean for all its applies: their complete schedules, or the error that refuses them."""
        try:
            return tuple(a.resolve(options) for a in self.applies), None
        except ScheduleError as error:
            return (), error.with_traceback(None)  # it is kept, and the frames would be

    def at(self, point: Point) -> tuple[Resolved, ScheduleError | None]:
        """`attempt`, remembered."""
        if point not in self.known:
            self.known[point] = self.attempt(options_at(point))
        return self.known[point]

    def verdict(self, axis: str, value: object) -> Verdict:
        """Whether `value` of `axis` may be asked for, alone or with another option, or two of the first axes."""
        place = _PLACES[axis]
        point = _moved(ANY, place, AXES[axis].candidates.index(value))
        error = self.at(point)[1]
        if error is None:
            return Verdict(axis, value)
        others = [
            [(p, i) for i in range(len(AXES[a].candidates))] for p, a in enumerate(DECIDED) if a != axis
        ]
        pairs = [both for two in combinations(others[: len(SHAPING)], 2) for both in product(*two)]
        for moves in [*((move,) for row in others for move in row), *pairs]:
            together = point
            for other, i in moves:
                together = _moved(together, other, i)
            if self.at(together)[1] is None:
                return Verdict(
                    axis, value, error, tuple((DECIDED[p], AXES[DECIDED[p]].candidates[i]) for p, i in moves)
                )
        return Verdict(axis, value, error)

    def below(self, point: Point, places: Sequence[int], rng: random.Random | None) -> Iterator[Point]:
        """Decide the axes at `places`, in the order in which they are resolved; go no further below a refusal."""
        found, error = self.at(point)
        if error is not None:
            return
        if not places:
            yield point
            return
        place, *rest = places
        branches = [_moved(point, place, i) for i in range(len(AXES[DECIDED[place]].candidates))]
        # To leave the axis out is a choice of its own where no candidate says the same.
        if not any(self.at(branch)[0] == found for branch in branches):
            branches.insert(0, point)
        if rng is not None:
            rng.shuffle(branches)
        for branch in branches:
            yield from self.below(branch, rest, rng)


_PLACES: Final = {axis: place for place, axis in enumerate(DECIDED)}


def _moved(point: Point, place: int, value: int) -> Point:
    return (*point[:place], value, *point[place + 1 :])


def options_at(point: Point) -> Options:
    """The options of a point."""
    asked: dict[str, Any] = {
        axis: AXES[axis].candidates[i] for axis, i in zip(DECIDED, point, strict=True) if i >= 0
    }
    return Options(**asked)


def legal(program: Program, context: Context) -> dict[str, dict[str, list[Verdict]]]:
    """A verdict on every candidate, by label and axis. `program` is as `ready` gives it."""
    found = {}
    for name in labels(program):
        label = Label(program, name, context)
        found[name] = {axis: [label.verdict(axis, v) for v in AXES[axis].candidates] for axis in AXES}
    return found


# --- all axes together ----------------------------------------------------------------------------------------


def variants(
    program: Program, label: str, context: Context, axes: Sequence[str] | None = None
) -> Iterator[Options]:
    """Every legal combination of options at `label`, each resolved schedule once, in an order that never changes.

    Only the `axes` named vary, by default all.
    """
    here = Label(program, label, context)
    seen: set[Resolved] = set()
    for point in here.below(ANY, _places(axes), None):
        found, _ = here.at(point)
        if found not in seen:
            seen.add(found)
            yield options_at(point)


def _places(axes: Sequence[str] | None) -> list[int]:
    return [place for place, name in enumerate(DECIDED) if axes is None or name in axes]


def schedules(
    program: Program, context: Context, axes: Sequence[str] | None = None, together: bool = False
) -> Iterator[Schedule]:
    """All legal schedules of a program, in an order that never changes: one label varies, the others are AUTO.

    With `together` the labels vary at the same time: the product of all their variants.
    """
    if together:
        rows = {label: list(variants(program, label, context, axes)) for label in labels(program)}
        for chosen in product(*rows.values()):
            yield Schedule(dict(zip(rows, chosen, strict=True)))
        return
    for label in labels(program):
        for options in variants(program, label, context, axes):
            yield Schedule({label: options})


def sample(
    program: Program, context: Context, count: int, seed: int, axes: Sequence[str] | None = None
) -> list[Schedule]:
    """At most `count` different legal schedules in which all labels vary; the same seed gives the same ones.

    Every axis in turn takes one of its legal values, all equally likely.
    """
    rng = random.Random(seed)
    rows = {name: Label(program, name, context) for name in labels(program)}
    found: dict[tuple[Point, ...], None] = {}
    for _ in range(4 * count):
        if len(found) == count:
            break
        found.setdefault(tuple(next(row.below(ANY, _places(axes), rng)) for row in rows.values()))
    return [Schedule(dict(zip(rows, map(options_at, points), strict=True))) for points in found]

"""The space of schedules of a program: what may be asked for, what of it is legal, and which line forbids the rest.

Nothing here knows a rule: the resolvers of the axes are asked, one combination after the other. A new axis needs an
entry in `CANDIDATES`, and nothing else.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from vgraph.compiler.axes import RESOLVERS
from vgraph.compiler.axes.base import Apply
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.choose_schedule import choose_schedule, labels, resolve
from vgraph.compiler.rewrite import PassManager, walk
from vgraph.errors import ScheduleError
from vgraph.schedule import (
    AXES,
    BLOCK,
    EDGE,
    SPLIT,
    STRICT,
    TWC,
    UNORDERED,
    VERTEX,
    WARP,
    ApplySchedule,
    Direction,
    Drive,
    FrontierLayout,
    Options,
    Payload,
    Phases,
    Schedule,
    Sync,
    delta_stepping,
)

if TYPE_CHECKING:
    from enum import Enum

    from vgraph.compiler.ir import Program
    from vgraph.compiler.rewrite import Context
    from vgraph.source import Span

Resolved = tuple[ApplySchedule, ...]
"""The complete schedules of all applies of one label."""


def _members(kind: type[Enum]) -> tuple[object, ...]:
    return tuple(m for m in kind if m.name != "AUTO")


CANDIDATES: Final[Mapping[str, tuple[object, ...]]] = {
    "direction": _members(Direction),
    "phases": _members(Phases),
    "drive": _members(Drive),
    "frontier": _members(FrontierLayout),
    "order": (UNORDERED, delta_stepping(), delta_stepping(1), STRICT),
    "balance": (VERTEX, EDGE, SPLIT(), SPLIT(4), WARP, BLOCK, TWC),
    "sync": _members(Sync),
    "deduplicate": (True, False),
    "segments": (1, 2),
    "payload": _members(Payload),
    "pipeline": (0, 2),
    "prefetch": (0, 8),
    "vectorize": (False, True),
}
"""The values of every axis that are worth a try; of an axis of numbers, some. To leave an axis out is one more."""


def candidates(axis: str) -> tuple[object, ...]:
    """The values of `axis` (a name in `vgraph.schedule.AXES`) that are tried. Raises KeyError."""
    return CANDIDATES[axis]


def ready(program: Program, context: Context) -> Program:
    """A program as the frontend gives it, after the passes that come before the choice of a schedule."""
    return PassManager(context).run(program, PIPELINE[: PIPELINE.index(choose_schedule)])


# --- one axis at a time ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """Whether `value` of `axis` may be asked for at a label.

    `refusal` is the error it gives when nothing else is asked for, None if it is legal. `needs` is another option with
    which it is legal after all.
    """

    axis: str
    value: object
    refusal: ScheduleError | None = None
    needs: tuple[str, object] | None = None

    @property
    def legal(self) -> bool:
        """True if nothing forbids it, or an option that it needs makes it legal."""
        return self.refusal is None or self.needs is not None

    @property
    def reason(self) -> str:
        """Why it is refused; an empty string where it is not."""
        return "" if self.refusal is None else str(getattr(self.refusal, "reason", self.refusal))

    @property
    def span(self) -> Span | None:
        """The line that forbids it, if the program came from source text."""
        return getattr(self.refusal, "span", None)


def attempt(
    program: Program, label: str, options: Options, context: Context
) -> tuple[Resolved, ScheduleError | None]:
    """What `options` mean for all applies of `label`: their complete schedules, or the error that refuses them."""
    try:
        return tuple(resolve(program, a, options, context) for a in _applies(program, label)), None
    except ScheduleError as error:
        return (), error


def legal(program: Program, context: Context) -> dict[str, dict[str, list[Verdict]]]:
    """A verdict on every candidate, by label and axis. `program` is as `ready` gives it."""
    return {
        label: {axis: [_verdict(program, label, axis, v, context) for v in candidates(axis)] for axis in AXES}
        for label in labels(program)
    }


def _applies(program: Program, label: str) -> list[Apply]:
    return [n for n in walk(program) if isinstance(n, Apply) and n.label == label]


def _verdict(program: Program, label: str, axis: str, value: object, context: Context) -> Verdict:
    options = _with(Options(), axis, value)
    _, error = attempt(program, label, options, context)
    if error is None:
        return Verdict(axis, value)
    for other in RESOLVERS:
        for needed in candidates(other) if other != axis else ():
            if attempt(program, label, _with(options, other, needed), context)[1] is None:
                return Verdict(axis, value, error, (other, needed))
    return Verdict(axis, value, error)


def _with(options: Options, axis: str, value: object) -> Options:
    changes: dict[str, Any] = {axis: value}
    return replace(options, **changes)


# --- all axes together ----------------------------------------------------------------------------------------


def variants(
    program: Program,
    label: str,
    context: Context,
    axes: Sequence[str] | None = None,
    rng: random.Random | None = None,
) -> Iterator[Options]:
    """Every legal combination of options at `label`, each resolved schedule once, in an order that never changes.

    Only the `axes` named vary, by default all. An `rng` shuffles the order.
    """
    names = [name for name in RESOLVERS if axes is None or name in axes]
    seen: set[Resolved] = set()
    for options in _below(program, label, context, Options(), names, rng):
        found, _ = attempt(program, label, options, context)
        if found not in seen:
            seen.add(found)
            yield options


def _below(
    program: Program,
    label: str,
    context: Context,
    options: Options,
    names: Sequence[str],
    rng: random.Random | None,
) -> Iterator[Options]:
    """Decide the axes `names`, in the order in which they are resolved; what is refused is followed no further."""
    found, error = attempt(program, label, options, context)
    if error is not None:
        return
    if not names:
        yield options
        return
    name, *rest = names
    branches = [_with(options, name, v) for v in candidates(name)]
    # To leave the axis out is a choice of its own where no candidate says the same.
    if not any(attempt(program, label, branch, context)[0] == found for branch in branches):
        branches.insert(0, options)
    if rng is not None:
        rng.shuffle(branches)
    for branch in branches:
        yield from _below(program, label, context, branch, rest, rng)


def schedules(
    program: Program, context: Context, axes: Sequence[str] | None = None, together: bool = False
) -> Iterator[Schedule]:
    """All legal schedules of a program, in an order that never changes: one label varies, the others are AUTO.

    With `together` the labels vary at the same time: the product of all their variants.
    """
    rows = {label: list(variants(program, label, context, axes)) for label in labels(program)}
    if together:
        for chosen in product(*rows.values()):
            yield Schedule(dict(zip(rows, chosen, strict=True)))
        return
    for label, found in rows.items():
        for options in found:
            yield Schedule({label: options})


def sample(
    program: Program, context: Context, count: int, seed: int, axes: Sequence[str] | None = None
) -> list[Schedule]:
    """At most `count` different legal schedules in which all labels vary; the same seed gives the same ones.

    Every axis in turn takes one of its legal values, all equally likely.
    """
    rng = random.Random(seed)
    names = labels(program)
    found: dict[str, Schedule] = {}
    for _ in range(4 * count):
        if len(found) == count:
            break
        one = Schedule({label: next(variants(program, label, context, axes, rng)) for label in names})
        found.setdefault(repr(dict(one.labels)), one)
    return list(found.values())

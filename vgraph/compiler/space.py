"""The space of schedules of a program: what may be asked for, what of it is legal, and which line forbids the rest.

Nothing here knows a rule: the resolvers of the axes are asked, one combination after the other. What is worth a try
stands in the records of the axes.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice, product
from typing import TYPE_CHECKING, Any

from vgraph.compiler import ir
from vgraph.compiler.axes.base import Traversal
from vgraph.compiler.ir.rewrite import PassManager
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.choose_schedule import alone, choose_schedule, labels
from vgraph.errors import ScheduleError
from vgraph.records import dataclass
from vgraph.refusals.schedules import IllegalSchedule
from vgraph.schedule import AXES, DECIDED, SHAPING, ApplySchedule, Options, Schedule

if TYPE_CHECKING:
    from vgraph.compiler.ir.rewrite import Context
    from vgraph.source import Span

Resolved = tuple[ApplySchedule, ...]
"""The complete schedules of all applies of one label."""


def ready(program: ir.Program, context: Context) -> ir.Program:
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


def _leans(error: ScheduleError) -> Collection[str]:
    """The axes whose options a refusal depends on."""
    return error.leans if isinstance(error, IllegalSchedule) else DECIDED


class Label:
    """One label of a program, and what has been asked about it so far."""

    def __init__(self, program: ir.Program, name: str, context: Context) -> None:
        loops = (n for n in ir.walk(program) if isinstance(n, ir.For) and n.divided)
        inside = {id(n) for loop in loops for n in ir.walk(loop)}
        applies = (n for n in ir.walk(program) if isinstance(n, ir.Apply) and n.label == name)
        self.applies = [
            Traversal(program, n, alone(context) if id(n) in inside else context) for n in applies
        ]
        self.known: dict[Options, tuple[Resolved, ScheduleError | None]] = {}

    def attempt(self, options: Options) -> tuple[Resolved, ScheduleError | None]:
        """What `options` mean for all its applies: their complete schedules, or the error that refuses them."""
        found = self.known.get(options)
        if found is None:
            try:
                found = tuple(a.resolve(options) for a in self.applies), None
            except ScheduleError as error:  # it is kept, and with it would be the frames
                found = (), error.with_traceback(None)
            self.known[options] = found
        return found

    def verdict(self, axis: str, value: object) -> Verdict:
        """Whether `value` of `axis` may be asked for, alone or with another option, or two of the first axes."""
        asked: Mapping[str, Any] = {axis: value}
        error = self.attempt(Options(**asked))[1]
        if error is None:
            return Verdict(axis, value)
        leans, others = _leans(error), [name for name in DECIDED if name != axis]
        after: dict[tuple[str, int], Collection[str]] = {}
        """What the refusal depends on with a candidate of another axis, of those it depends on alone."""
        for name in (n for n in others if n in leans):
            for i, v in enumerate(AXES[name].candidates):
                still = self.attempt(Options(**{axis: value, name: v}))[1]
                if still is None:
                    return Verdict(axis, value, error, ((name, v),))
                after[name, i] = _leans(still)
        for a, b in combinations(others[: len(SHAPING)], 2):
            if a not in leans and b not in leans:
                continue
            for (i, v), (j, w) in product(enumerate(AXES[a].candidates), enumerate(AXES[b].candidates)):
                alone = b not in after.get((a, i), DECIDED) or a not in after.get((b, j), DECIDED)
                if not alone and self._legal({axis: value, a: v, b: w}):
                    return Verdict(axis, value, error, ((a, v), (b, w)))
        return Verdict(axis, value, error)

    def _legal(self, asked: Mapping[str, Any]) -> bool:
        return self.attempt(Options(**asked))[1] is None

    def below(self, options: Options, axes: Sequence[str], rng: random.Random | None) -> Iterator[Options]:
        """Decide the `axes`, which are in the order in which they are resolved; go no further below a refusal."""
        found, error = self.attempt(options)
        if error is not None:
            return
        if not axes:
            yield options
            return
        axis, *rest = axes
        values = [replace(options, **{axis: value}) for value in AXES[axis].candidates]
        branches = [options, *values]
        if rng is not None:
            rng.shuffle(branches)
        for branch in branches:
            # To leave the axis out is a choice of its own where no candidate says the same.
            if branch is not options or not any(self.attempt(value)[0] == found for value in values):
                yield from self.below(branch, rest, rng)


def legal(program: ir.Program, context: Context) -> dict[str, dict[str, list[Verdict]]]:
    """A verdict on every candidate, by label and axis. `program` is as `ready` gives it."""
    found = {}
    for name in labels(program):
        label = Label(program, name, context)
        found[name] = {axis: [label.verdict(axis, v) for v in AXES[axis].candidates] for axis in AXES}
    return found


# --- all axes together ----------------------------------------------------------------------------------------


def variants(
    program: ir.Program, label: str, context: Context, axes: Sequence[str] | None = None
) -> Iterator[Options]:
    """Every legal combination of options at `label`, each resolved schedule once, in an order that never changes.

    Only the `axes` named vary, by default all.
    """
    here = Label(program, label, context)
    seen: set[Resolved] = set()
    for options in here.below(Options(), _decided(axes), None):
        found, _ = here.attempt(options)
        if found not in seen:
            seen.add(found)
            yield options


def _decided(axes: Sequence[str] | None) -> list[str]:
    return [name for name in DECIDED if axes is None or name in axes]


def schedules(
    program: ir.Program, context: Context, axes: Sequence[str] | None = None, together: bool = False
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
    program: ir.Program, context: Context, count: int, seed: int, axes: Sequence[str] | None = None
) -> list[Schedule]:
    """At most `count` different legal schedules in which all labels vary; the same seed gives the same ones.

    Every axis in turn takes one of its legal values, all equally likely.
    """
    return list(islice(samples(program, context, 4 * count, seed, axes), count))


def samples(
    program: ir.Program, context: Context, tries: int, seed: int, axes: Sequence[str] | None = None
) -> Iterator[Schedule]:
    """The different ones of so many drawn as by `sample`, one after the other."""
    rng = random.Random(seed)
    rows = {name: Label(program, name, context) for name in labels(program)}
    found: set[tuple[Options, ...]] = set()
    for _ in range(tries):
        chosen = tuple(next(row.below(Options(), _decided(axes), rng)) for row in rows.values())
        if chosen not in found:
            found.add(chosen)
            yield Schedule(dict(zip(rows, chosen, strict=True)))

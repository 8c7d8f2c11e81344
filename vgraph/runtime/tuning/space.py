"""The legal schedules of one program, as tuning walks through them."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.text import print_program
from vgraph.compiler.passes.choose_schedule import labels
from vgraph.compiler.space import Label, Resolved
from vgraph.compiler.user_passes import pipeline
from vgraph.runtime import policy
from vgraph.schedule import AXES, DECIDED, Options, Schedule, delta_stepping

if TYPE_CHECKING:
    from vgraph.compiler import ir
    from vgraph.graph import Graph
    from vgraph.runtime.executor import Job

SAMPLES: Final = 200
"""Schedules drawn at random at most."""


class Space:
    """The legal schedules of a job's program, and which of them mean the same. `widths` of buckets are tried too.

    Only `axes` are varied, by default all.
    """

    def __init__(self, job: Job, widths: tuple[float, ...] = (), axes: Sequence[str] = DECIDED) -> None:
        steps = pipeline()
        first = [p.name for p in steps].index("choose-schedule")
        self.context: Context = Context(threads=job.single, facts=job.facts)
        self.program: ir.Program = PassManager(self.context).run(job.typed.program, steps[:first])
        self.labels = labels(self.program)
        self._labels = {name: Label(self.program, name, self.context) for name in self.labels}
        self.axes = axes
        self._widths = tuple(delta_stepping(width) for width in widths)
        self._rest = steps[first:]

    def code(self, schedule: Schedule) -> str:
        """The kernel as text: schedules of different names may come to the same. Raises VGraphError."""
        context = Context(schedule, self.context.threads, self.context.facts)
        return print_program(PassManager(context).run(self.program, self._rest, verify=False))

    def shortest(self, schedule: Schedule) -> Schedule:
        """The schedule without the options that go without saying."""
        meaning = self.meaning(schedule)
        for label, options in schedule.labels.items():
            for axis in options.given():
                less = change(schedule, label, axis, AXES[axis].auto) if axis in AXES else schedule
                schedule = less if self.meaning(less) == meaning else schedule
        return Schedule({label: options for label, options in schedule.labels.items() if options.given()})

    def meaning(self, schedule: Schedule) -> tuple[Resolved | None, ...] | None:
        """The complete schedules of all traversals; None if one of them refuses what it is asked."""
        if any(label not in self.labels for label in schedule.labels):
            return None
        found = [self._resolved(label, schedule.labels.get(label, Options())) for label in self.labels]
        return None if None in found else tuple(found)

    def _resolved(self, label: str, options: Options) -> Resolved | None:
        found, error = self._labels[label].attempt(options)
        return found if error is None else None

    def values(self, axis: str) -> tuple[object, ...]:
        """What is tried of `axis`."""
        if AXES[axis].costly:
            return (AXES[axis].rest,)
        more = self._widths if axis == "order" else AXES[axis].numbers
        return tuple(dict.fromkeys((*AXES[axis].candidates, *more)))

    def single(self, label: str) -> Iterator[tuple[str, object, Schedule]]:
        """The legal changes of one axis at `label`; then those that need another option, with the first that does."""
        refused = []
        for axis in self.axes:
            for value in self.values(axis):
                alone = change(Schedule(), label, axis, value)
                if self.meaning(alone) is not None:
                    yield axis, value, alone
                else:
                    refused.append((axis, value, alone))
        for axis, value, alone in refused:
            others = ((other, v) for other in self.axes if other != axis for v in self.values(other))
            needs = (change(alone, label, *other) for other in others)
            both = next((s for s in needs if self.meaning(s) is not None), None)
            if both is not None:
                yield axis, value, both

    def samples(self, seed: int) -> Iterator[Schedule]:
        """Legal schedules at random: every axis takes one of its values, or is left out."""
        rng = random.Random(seed)
        for _ in range(SAMPLES):
            schedule = Schedule()
            for label in self.labels:
                for axis in self.axes:
                    values = [None, *self.values(axis)]
                    rng.shuffle(values)
                    for value in values:
                        more = schedule if value is None else change(schedule, label, axis, value)
                        if self.meaning(more) is not None:
                            schedule = more
                            break
            yield schedule


def bucket_widths(graph: Graph) -> tuple[float, ...]:
    """Widths around the default one, to a factor of 8 (three digits)."""
    weight = graph.edge_properties.get("weight")
    if weight is None or not graph.num_arcs or weight.ndim != 1 or weight.dtype.kind not in "iuf":
        return ()
    if not 0 < graph.edge_property_mean("weight") < math.inf:
        return ()
    guess = policy.delta(graph, "weight")
    found = [float(f"{guess * factor:.3g}") for factor in (1 / 8, 1 / 4, 1 / 2, 2, 4, 8)]
    if weight.dtype.kind != "f":  # no two different values are closer than 1
        found = [float(max(1, round(width))) for width in found]
    return tuple(dict.fromkeys(found))


def change(schedule: Schedule, label: str, axis: str, value: object) -> Schedule:
    """`schedule` with `value` of `axis` asked for at `label`."""
    changes: dict[str, Any] = {axis: value}
    options = replace(schedule.labels.get(label, Options()), **changes)
    return Schedule({**schedule.labels, label: options})

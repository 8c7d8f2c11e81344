"""Schedules that the effects of an operator forbid."""

from __future__ import annotations

from vgraph.errors import ScheduleError
from vgraph.refusals.base import Refusal


class IllegalSchedule(Refusal, ScheduleError):
    """An option that would change the result, or that means nothing for this traversal."""

    title = "`{option}` is not legal for `{at}`"
    label = "{reason}"
    help = "{way_out}"
    leans: frozenset[str] = frozenset()
    """The axes whose options it depends on: none of another axis would make it legal."""


class NoChangedVertices(Refusal):
    """`frontier = graph.edge_apply(unite)`, where the operator only unites sets."""

    title = "`{operator}` does not tell which vertices changed"
    label = "uniting disjoint sets gives no frontier"
    help = "apply it as a statement, without assigning its result"


class NoExclusiveEdges(Refusal, ScheduleError):
    """An operator that writes both ends of its edge, or what it gathers, where no schedule is chosen unasked."""

    title = "no schedule is chosen for `{operator}` on a device of kind {device}"
    label = "{what}"
    help = "{way_out}"


class NumberingMatters(Refusal, ScheduleError):
    """`relabel=` for a program that can tell how the vertices are numbered."""

    title = "`relabel` is not legal for `{algorithm}`: its result depends on the numbers of the vertices"
    label = "{reason}"
    help = "leave `relabel` out"


class OrderStays(Refusal, ScheduleError):
    """`relabel=vg.overlap(...)` for a program that keeps what cannot be put into another order while it runs."""

    title = "`relabel=vg.overlap(...)` is not legal for `{algorithm}`: it cannot go on in another order"
    label = "{reason}"
    help = 'have the order made before the run: relabel="rcm" instead of relabel=vg.overlap("rcm")'

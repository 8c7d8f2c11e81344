"""`segments`: the sources of a pull in ranges, walked one after the other, so that their values stay in the cache."""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import Role, role_of
from vgraph.compiler.analysis.slices import slices_obstacle
from vgraph.compiler.axes.base import Choice
from vgraph.compiler.types import Type, Vector, element_of
from vgraph.schedule import VERTEX, Direction, Drive, Phases

MOST: Final = 64
"""No more are chosen for the user: each costs a barrier and a visit to nearly every vertex."""


def choose(c: Choice, asked: int | None) -> int:
    """Where all arcs are pulled: as many as let the values of one segment's sources stay in the cache."""
    assert isinstance(c.apply, ir.EdgeApply), "the axis is one of edge operators only"
    against = c.apply.reverse
    if c.context.distributed:
        return 1
    if asked is None and sliced(c):
        c.because(2, "values of sources are read from the memory that a block shares")
        return 2
    if asked is None:
        parts = c.context.facts.segments
        if parts == 1 or c.apply.frontier is not None or against or not c.agrees(parts):
            return 1
        found = min(MOST, parts * max(1, gathered_bytes(c.operator) // 4))
        c.because(found, "the values that are gathered do not fit the cache, a part of them does")
        return found
    if asked != 1:
        if against and not c.context.abilities.warps:
            c.refuse("it runs against the arcs, and segments are cut along them")
        if c.context.abilities.warps:
            obstacle = slices_obstacle(c.operator)
            if obstacle is not None:
                c.refuse(obstacle.reason, obstacle.span)
        c.because(asked, "asked for")
    return asked


def sliced(c: Choice) -> bool:
    """Whether a pull walks slices, on a device with warps: as it will on this graph, and the operator allows it."""
    slices = c.context.facts.slices and c.context.abilities.warps and not c.context.distributed
    if not slices or not isinstance(c.apply, ir.EdgeApply):
        return False
    shape = {"direction": Direction.PULL, "drive": Drive.TOPOLOGY, "phases": Phases.FUSED}
    fits = all(c.chosen[name] is value for name, value in shape.items()) and c.apply.frontier is None
    free = c.asked("segments") in (None, 2) and c.asked("balance") in (None, VERTEX) and not c.asked("parts")
    return fits and free and slices_obstacle(c.operator) is None


def gathered_bytes(operator: ir.Operator) -> int:
    """Bytes that an edge operator reads at each source."""
    at_source = {n.prop: n.type for n in ir.walk(operator)
                 if isinstance(n, ir.Load) and role_of(operator, n.index) is Role.SRC}  # fmt: skip
    return sum(map(_bytes, at_source.values()))


def _bytes(t: Type) -> int:
    return (element_of(t).bits or 32) // 8 * (t.length if isinstance(t, Vector) else 1)

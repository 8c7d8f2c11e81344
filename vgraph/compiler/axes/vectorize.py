"""`vectorize`: several arcs at a time."""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import WriteClass
from vgraph.compiler.analysis.gathers import loop_obstacle, vector_obstacle
from vgraph.compiler.axes.base import Choice
from vgraph.compiler.obstacle import Obstacle
from vgraph.schedule import Sync


def choose(c: Choice, asked: bool | None) -> bool:
    """False, unless asked for: it pays only where vertices have many arcs and the values miss the nearest cache."""
    if not asked:
        return False
    obstacle = _in_pull(c) if c.is_edge else _in_loops(c)
    if obstacle is not None:
        c.refuse(obstacle.reason, obstacle.span or c.operator.span, obstacle.way_out)
    c.because(True, "asked for")
    return True


def _in_pull(c: Choice) -> Obstacle | None:
    """Why a pull cannot gather for several arcs at a time."""
    if c.apply.frontier is not None:
        return Obstacle("each source is looked up in the frontier before it is read", c.apply.span)
    if c.apply.out is not None and WriteClass.ACCUMULATING in c.effects.classes():
        return Obstacle("which vertices are touched is found arc by arc", c.apply.span)
    src, edge, _ = c.operator.args
    return _while_gathered(c) or vector_obstacle(c.operator.body, src, edge)


def _in_loops(c: Choice) -> Obstacle | None:
    """Why none of a vertex operator's loops can take several arcs at a time."""
    loops = [n for n in ir.walk(c.operator) if isinstance(n, ir.ForNeighbors)]
    if not loops:
        return Obstacle("it has no loop over arcs", c.operator.span)
    found = [loop_obstacle(n) for n in loops]
    return _while_gathered(c) or (None if None in found else found[0])


def _while_gathered(c: Choice) -> Obstacle | None:
    if c.effects.stale_reads and c.chosen["sync"] is not Sync.BSP:
        first = c.effects.stale_reads[0]
        return Obstacle(f"`{first.prop}` changes while it is gathered", first.span, "use sync=vg.BSP")
    return None

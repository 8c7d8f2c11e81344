"""`segments`, `prefetch` and `vectorize`: what makes a loop over arcs kinder to caches."""

from __future__ import annotations

from typing import Final

from vgraph.compiler.axes.base import Choice
from vgraph.compiler.effects import Role, WriteClass, role_of
from vgraph.compiler.gathers import vector_obstacle
from vgraph.compiler.ir import EdgeApply, ForNeighbors, Load, Operator
from vgraph.compiler.rewrite import walk
from vgraph.compiler.types import Type, Vector, element_of
from vgraph.schedule import UNORDERED, VERTEX, Direction, Drive, Phases, Sync
from vgraph.source import Span

Obstacle = tuple[str, str, Span | None]
"""Why a choice is illegal, what to do instead, and the line that forbids it (None: the apply)."""

_PLAIN: Final = (
    ("phases", Phases.FUSED, "two phases walk a buffer, in the order of the whole graph"),
    ("order", UNORDERED, "the vertices of a bucket are walked, in their order"),
    ("balance", VERTEX, "the arcs of a vertex are handed out in parts"),
)
"""What leaves a plain loop over the arcs of a vertex, and why anything else does not."""

MOST_SEGMENTS: Final = 64
"""No more are chosen for the user: each costs a barrier and a visit to nearly every vertex."""


def choose_segments(c: Choice) -> int:
    """Where all arcs are pulled: as many as let the values of one segment's sources stay in the cache."""
    asked = c.asked("segments")
    if asked is None:
        return _cache_sized(c)
    if asked == 1:
        return 1
    obstacle = _segments_obstacle(c)
    if obstacle is not None:
        reason, way_out, span = obstacle
        c.illegal(f"segments={asked}", reason, way_out, span)
    c.because("segments", asked, "asked for")
    return int(asked)


def _cache_sized(c: Choice) -> int:
    parts = c.context.facts.segments
    if parts == 1 or c.apply.frontier is not None or _segments_obstacle(c) is not None:
        return 1
    found = min(MOST_SEGMENTS, parts * max(1, gathered_bytes(c.operator) // 4))
    c.because("segments", found, "the values that are gathered do not fit the cache, a part of them does")
    return found


def gathered_bytes(operator: Operator) -> int:
    """Bytes that an edge operator reads at each source."""
    at_source = {n.prop: n.type for n in walk(operator)
                 if isinstance(n, Load) and role_of(operator, n.index) is Role.SRC}  # fmt: skip
    return sum(map(_bytes, at_source.values()))


def _bytes(t: Type) -> int:
    return (element_of(t).bits or 32) // 8 * (t.length if isinstance(t, Vector) else 1)


def choose_prefetch(c: Choice) -> int:
    """None, unless asked for: processors run ahead of a short loop by themselves."""
    asked = c.asked("prefetch")
    if not asked:
        return 0
    if not c.context.abilities.hints:
        reason = f'device="{c.context.abilities.device}" has other threads run while one waits for memory'
        c.illegal(f"prefetch={asked}", reason, "leave it out")
    obstacle = _not_plain(c) or _prefetch_obstacle(c)
    if obstacle is not None:
        reason, way_out, span = obstacle
        c.illegal(f"prefetch={asked}", reason, way_out, span)
    c.because("prefetch", asked, "asked for")
    return int(asked)


def choose_vectorize(c: Choice) -> bool:
    """False, unless asked for: it pays only where vertices have many arcs and the values miss the nearest cache."""
    if not c.asked("vectorize"):
        return False
    if not c.context.abilities.hints:
        reason = f'device="{c.context.abilities.device}" runs a thread per lane as it is'
        c.illegal("vectorize=True", reason, "leave it out")
    obstacle = _not_plain(c) or (_pull_obstacle(c) if c.is_edge else _loops_obstacle(c))
    if obstacle is not None:
        reason, way_out, span = obstacle
        c.illegal("vectorize=True", reason, way_out, span)
    c.because("vectorize", True, "asked for")
    return True


def _not_plain(c: Choice) -> Obstacle | None:
    for axis, value, reason in _PLAIN:
        if c.chosen[axis] != value:
            return reason, f"use {axis}=vg.{getattr(value, 'name', str(value).upper())}", None
    return None


def _segments_obstacle(c: Choice) -> Obstacle | None:
    if not c.is_edge:
        reason = "a vertex operator walks its arcs itself, so they cannot be cut by their sources"
        return reason, "leave it out", c.operator.span
    if c.chosen["direction"] is not Direction.PULL:
        return (
            "a push reads each source once, so there is nothing to keep in a cache",
            "use direction=vg.PULL",
            None,
        )
    if c.chosen["drive"] is not Drive.TOPOLOGY:
        return "segments are walked whole, not from a queue of vertices", "use drive=vg.TOPOLOGY", None
    if isinstance(c.apply, EdgeApply) and c.apply.reverse:
        return "it runs against the arcs, and segments are cut along them", "leave it out", None
    return _not_plain(c)


def _prefetch_obstacle(c: Choice) -> Obstacle | None:
    direction = c.chosen["direction"]
    ends = {Role.SRC, Role.DST} if c.is_edge else {Role.NEIGHBOR}
    if c.is_edge and direction is not Direction.AUTO:
        ends = {Role.SRC if direction is Direction.PULL else Role.DST}
    if ends & {*(r.role for r in c.effects.reads), *(w.role for w in c.effects.writes)}:
        return None
    return "nothing is read or written at the other end of an arc", "leave it out", c.operator.span


def _pull_obstacle(c: Choice) -> Obstacle | None:
    """Why a pull cannot gather for several arcs at a time."""
    if c.chosen["direction"] is not Direction.PULL:
        return "a push writes at scattered places, one by one", "use direction=vg.PULL", None
    if c.apply.frontier is not None:
        return "each source is looked up in the frontier before it is read", "leave it out", None
    if c.apply.out is not None and WriteClass.ACCUMULATING in c.effects.classes():
        return "which vertices are touched is found arc by arc", "leave it out", None
    if c.effects.stale_reads and c.chosen["sync"] is not Sync.BSP:
        first = c.effects.stale_reads[0]
        return f"`{first.prop}` changes while it is gathered", "use sync=vg.BSP", first.span
    src, edge, _ = c.operator.args
    obstacle = vector_obstacle(c.operator.body, src, edge)
    if obstacle is None:
        return None
    reason, statement = obstacle
    return reason, "leave it out", statement.span if statement else c.operator.span


def _loops_obstacle(c: Choice) -> Obstacle | None:
    """Why none of a vertex operator's loops can take several arcs at a time."""
    loops = [n for n in walk(c.operator) if isinstance(n, ForNeighbors)]
    found = [vector_obstacle(n.body, n.vertex, n.edge) for n in loops]
    if not found:
        return "it has no loop over arcs", "leave it out", c.operator.span
    if c.effects.stale_reads and c.chosen["sync"] is not Sync.BSP:
        first = c.effects.stale_reads[0]
        return f"`{first.prop}` changes while it is gathered", "use sync=vg.BSP", first.span
    if found[0] is None or None in found:
        return None
    reason, statement = found[0]
    return reason, "leave it out", statement.span if statement else c.operator.span

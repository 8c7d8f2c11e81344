"""`prefetch`: what is touched at the other end of an arc is asked for some arcs ahead."""

from __future__ import annotations

from vgraph.compiler.analysis.effects import Role
from vgraph.compiler.axes.base import Choice
from vgraph.schedule import Direction


def choose(c: Choice, asked: int | None) -> int:
    """None, unless asked for: processors run ahead of a short loop by themselves."""
    if not asked:
        return 0
    ends = {Role.NEIGHBOR}
    if c.is_edge:
        read, written = {Role.SRC}, {Role.DST}
        ends = {Direction.PULL: read, Direction.PUSH: written}.get(c.chosen["direction"], read | written)
    if not ends & {*(r.role for r in c.effects.reads), *(w.role for w in c.effects.writes)}:
        c.refuse("nothing is read or written at the other end of an arc", c.operator.span)
    c.because(asked, "asked for")
    return asked

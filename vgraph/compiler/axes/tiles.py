"""`tiles`: how many vertices of near ids are visited until nothing changes among them, without waiting for others."""

from __future__ import annotations

from vgraph.compiler.axes.base import Choice
from vgraph.compiler.axes.hops import out_of_rounds


def choose(c: Choice, asked: int | None) -> int:
    """None unless asked for: on GPUs hops are quicker, and on CPUs many threads have not been measured."""
    if not asked:
        return 0
    obstacle = c.at.once(out_of_rounds)
    if obstacle is not None:
        c.refuse(obstacle.reason, obstacle.span, "use tiles=0 or leave it out")
    c.because(asked, "asked for")
    return asked

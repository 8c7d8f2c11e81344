"""`sync`: whether updates become visible at once or when the round ends."""

from __future__ import annotations

from vgraph.compiler.axes.base import Choice
from vgraph.compiler.effects import async_obstacle
from vgraph.schedule import Sync


def choose_sync(c: Choice) -> Sync:
    """ASYNC where the fixpoint provably does not depend on it."""
    asked = c.asked("sync")
    if not c.effects.stale_reads:
        c.because("sync", Sync.BSP, "it reads nothing that it writes at other vertices, so both are the same")
        return Sync(asked or Sync.BSP)
    obstacle = async_obstacle(c.program, c.apply)
    if asked is Sync.ASYNC and obstacle is not None:
        c.illegal("sync=ASYNC", obstacle[0], "use sync=vg.BSP or leave it out", obstacle[1])
    if asked is Sync.BSP or obstacle is not None:
        c.because("sync", Sync.BSP, "asked for" if obstacle is None else obstacle[0])
        return Sync.BSP
    c.because("sync", Sync.ASYNC, "every update is monotone and the loop runs to the fixpoint")
    return Sync.ASYNC

"""`sync`: whether updates become visible at once or when the round ends."""

from __future__ import annotations

from vgraph.compiler.analysis.effects import async_obstacle
from vgraph.compiler.axes.base import Choice, Traversal
from vgraph.compiler.obstacle import Obstacle
from vgraph.schedule import ASYNC, BSP, Sync


def choose(c: Choice, asked: Sync | None) -> Sync:
    """ASYNC where the fixpoint provably does not depend on it."""
    if c.effects.exclusive:
        return asked or BSP  # there is nothing to say: each activation sees what those before it wrote
    if not c.effects.stale_reads:
        same = "the code is that of sync=bsp" if asked is ASYNC else "both are the same"
        c.because(asked or BSP, f"it reads nothing that it writes at other vertices, so {same}")
        return asked or BSP
    obstacle = c.at.once(_obstacle)
    if asked is ASYNC and obstacle is not None:
        c.refuse(obstacle.reason, obstacle.span, "use sync=vg.BSP or leave it out")
    if asked is BSP or obstacle is not None:
        c.because(BSP, "asked for" if obstacle is None else obstacle.reason)
        return BSP
    c.because(ASYNC, "every update is monotone and the loop runs to the fixpoint")
    return ASYNC


def _obstacle(at: Traversal) -> Obstacle | None:
    found = async_obstacle(at.program, at.apply)
    return None if found is None else Obstacle(*found)

"""`hubs`: of how many vertices the neighbor lists are compared by bitmaps where two have something in common."""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.lanes import carried, ends_walk, leaves
from vgraph.compiler.axes.base import Choice, Traversal
from vgraph.compiler.ir.rewrite import walk
from vgraph.compiler.obstacle import Obstacle

_IN_ORDER: Final = (ir.Store, ir.Claim, ir.Union, ir.Emit, ir.ScratchStore, ir.ScratchLoad)


def choose(c: Choice, asked: int | None) -> int:
    """None, unless asked for."""
    if not asked:
        return 0
    obstacle = c.at.once(hubs_obstacle)
    if obstacle is not None:
        c.refuse(obstacle.reason, obstacle.span)
    c.because(asked, "asked for")
    return asked


def hubs_obstacle(at: Traversal) -> Obstacle | None:
    """Why what lists have in common cannot be visited hubs first."""
    loops = [n for n in walk(at.operator) if isinstance(n, ir.ForCommon)]
    if not loops:
        return Obstacle("it compares no neighbor lists", at.operator.span)
    return next((found for loop in loops if (found := _in_order(loop)) is not None), None)


def _in_order(loop: ir.ForCommon) -> Obstacle | None:
    """What in a loop over common neighbors depends on their order."""
    body = loop.body[1:] if ends_walk(loop) is not None else loop.body
    inside = [n for s in body for n in walk(s)]
    reduced = {n.prop for n in inside if isinstance(n, ir.Reduce)}
    for n in inside:
        if isinstance(n, _IN_ORDER) or (isinstance(n, ir.Load) and n.prop in reduced):
            return Obstacle(
                "hubs come first, and what it does with common neighbors depends on their order", n.span
            )
    if leaves(body) or carried(loop) is None:
        return Obstacle(
            "hubs come first, and it carries something from one common neighbor to the next", loop.span
        )
    return None

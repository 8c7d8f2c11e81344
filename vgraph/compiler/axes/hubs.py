"""`hubs`: of how many vertices neighbor lists are compared by bitmaps where two have something in common; on a GPU, of
how many vertices lists have the ids in 16 bits."""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.lanes import (
    carried,
    compared_with,
    compares_own,
    compares_together,
    ends_walk,
    leaves,
    own_arcs,
    shared_operator,
)
from vgraph.compiler.analysis.pieces import cut_operator, own_sums
from vgraph.compiler.axes.base import Choice, Traversal
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.obstacle import Obstacle
from vgraph.compiler.types import VID, Scalar
from vgraph.schedule import VERTEX

_IN_ORDER: Final = (ir.Store, ir.Claim, ir.Union, ir.Emit, ir.ScratchStore, ir.ScratchLoad)


HEADS: Final = 1 << 16
"""What is asked for on a GPU: as many as have 16 bits, and a bit each in the memory that a warp marks."""
BITMAPS: Final = 1 << 14
"""Hubs that are chosen: all bitmaps together take 16 MB of an acyclic graph, and the marks 2 KB. Measured in counting
triangles, seconds of one thread (Zen 4, 1 MB of L2, a busy machine): R-MAT of scale 18 with 4096, 8192 and 16384 hubs
0.185, 0.140 and 0.122, at each vertex 0.32, 0.27 and 0.28; of scale 20 with 8192 and 16384 2.7 and 2.2, 4.0 and 3.7."""


def choose(c: Choice, asked: int | None) -> int:
    """Where lists are long and mostly of hubs, and all that is done with common neighbors is to count them."""
    if c.context.abilities.warps:
        return _with_warps(c, asked)
    if asked is None and _only_counts(c) and c.agrees(BITMAPS):
        c.because(BITMAPS, "lists are long, and mostly of hubs, which are counted by bitmaps")
        return BITMAPS
    if not asked:
        return 0
    obstacle = c.at.once(hubs_obstacle)
    if obstacle is not None:
        c.refuse(obstacle.reason, obstacle.span)
    c.because(asked, "asked for")
    return asked


def _with_warps(c: Choice, asked: int | None) -> int:
    """Where lanes mark a list and walk many others: in both, first ids have 16 bits."""
    marks = not c.is_edge and c.chosen["balance"] != VERTEX and c.at.once(_marks)
    if asked is None and marks and c.context.facts.bitmaps and c.agrees(HEADS):
        c.because(HEADS, "lists are long, and mostly of hubs, whose ids have 16 bits")
        return HEADS
    if asked and not marks:
        reason = "no lanes mark the list of its vertex together and walk those of neighbors"
        c.refuse(reason, c.operator.span, "use balance=vg.WARP or leave it out")
    if asked:
        c.because(asked, "asked for")
    return asked or 0


def _marks(at: Traversal) -> bool:
    """Whether a group of lanes marks the list of its vertex, in the form in which lanes visit it."""
    own, found = at.operator.args[0], cut_operator(at.operator)
    if isinstance(found, Obstacle):
        found = shared_operator(at.operator)
    if isinstance(found, Obstacle):
        return False
    loops = [n for n in walk(found) if isinstance(n, ir.ForNeighbors) and compares_own(n, own)]
    return bool(loops) and all(map(compares_together, loops))


def hubs_obstacle(at: Traversal) -> Obstacle | None:
    """Why what lists have in common cannot be visited hubs first."""
    loops = [n for n in walk(at.operator) if isinstance(n, ir.ForCommon)]
    if not loops:
        return Obstacle("it compares no neighbor lists", at.operator.span)
    own = at.operator.args[0]
    return next((found for n in loops if (found := _in_order(own_sums(n, own))) is not None), None)


def _only_counts(c: Choice) -> bool:
    """Whether the operator compares its vertex's own list with those of its neighbors, all of one side, and adds
    constants for what they share."""
    if c.is_edge or not c.context.facts.bitmaps or c.at.once(hubs_obstacle) is not None:
        return False
    own = c.operator.args[0]
    loops = [n for n in walk(c.operator) if isinstance(n, ir.ForNeighbors) and own_arcs(n, own)]
    compared = [
        n
        for loop in loops
        for n in walk(loop)
        if (found := compared_with(n, own, loop.orientation))
        and found == (ir.Var(loop.vertex, VID), loop.orientation)
    ]
    every = [n for n in walk(c.operator) if isinstance(n, ir.ForCommon)]
    return len(compared) == len(every) and all(_adds(s) for n in every for s in n.body)


def _adds(s: ir.Stmt) -> bool:
    if not (isinstance(s, ir.Accumulate | ir.Reduce | ir.ReduceGlobal) and s.op == "+"):
        return False
    return isinstance(s.value, ir.Const) and isinstance(s.value.type, Scalar) and not s.value.type.is_float


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

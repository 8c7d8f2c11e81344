"""`rows`: how the neighbors of a vertex are stored where a loop walks them."""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.slices import side_by_side, slices_obstacle
from vgraph.compiler.axes.base import Choice
from vgraph.schedule import CSR, DELTA, FUSED, PULL, SLICES, TOPOLOGY, VERTEX, Rows


def choose(c: Choice, asked: Rows | None) -> Rows:
    """In slices, where that pays; as differences, where nearly all rows of the graph fit in a word."""
    loops = c.is_edge or any(isinstance(n, ir.ForNeighbors) for n in ir.walk(c.operator))
    if asked is None and _many_pulls(c):
        c.because(SLICES, "many pulls along all arcs are expected, and rows side by side stream half as much")
        return SLICES
    if asked is None:
        compares = not c.is_edge and any(isinstance(n, ir.ForCommon) for n in ir.walk(c.operator))
        if not (loops and c.context.facts.near and c.agrees(DELTA)) or compares:
            return CSR
        c.because(DELTA, "nearly all rows are a few neighbors of near ids: differences of 16 bits hold them")
    elif asked is DELTA:
        if not loops:
            c.refuse("it has no loop over arcs", c.operator.span)
        c.because(DELTA, "asked for")
    elif asked is SLICES:
        if not isinstance(c.apply, ir.EdgeApply):
            c.refuse(
                "a vertex operator walks its arcs itself, so they cannot be cut by their sources",
                c.operator.span,
            )
        if c.apply.reverse:
            c.refuse("it runs against the arcs, and slices are made of those that enter vertices")
        obstacle = slices_obstacle(c.operator) if c.context.abilities.warps else None
        if obstacle is not None:
            c.refuse(obstacle.reason, obstacle.span)
        c.because(SLICES, "asked for")
    return asked or DELTA


def _many_pulls(c: Choice) -> bool:
    """Whether a loop pulls along all arcs on a CPU, where so much is run that slices pay, and in lanes.

    Slices are taken by whichever thread comes, so the next loop finds what they have written in other threads' caches.
    With short rows and 16 threads that costs more than slices save: PageRank on a road grid, 20 rounds, took 21.7 ms
    instead of 14.3 in 64 bits (9.4 and 3.2 of them in `update`) and 14.5 instead of 13.6 in 32; with 8 threads 22.1
    instead of 26.6.
    """
    facts = c.context.facts
    if not (facts.slices and isinstance(c.apply, ir.EdgeApply)) or (facts.short_lists and facts.crowd >= 16):
        return False
    free = c.apply.frontier is None and c.apply.out is None and not c.apply.reverse
    shape = {"direction": PULL, "drive": TOPOLOGY, "phases": FUSED, "balance": VERTEX}
    fits = free and all(c.chosen[name] == value for name, value in shape.items())
    return fits and c.axis.lack(SLICES, c.device) is None and c.agrees(SLICES) and side_by_side(c.operator)

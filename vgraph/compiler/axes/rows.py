"""`rows`: how the neighbors of a vertex are stored where a loop walks them."""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.axes.base import Choice
from vgraph.compiler.ir.rewrite import walk
from vgraph.schedule import CSR, DELTA, Rows


def choose(c: Choice, asked: Rows | None) -> Rows:
    """As differences, where nearly all rows of the graph fit in a word."""
    loops = c.is_edge or any(isinstance(n, ir.ForNeighbors) for n in walk(c.operator))
    if asked is None:
        if not (loops and c.context.facts.near and c.agrees(DELTA)):
            return CSR
        c.because(DELTA, "nearly all rows are a few neighbors of near ids: differences of 16 bits hold them")
    elif asked is DELTA:
        if not loops:
            c.refuse("it has no loop over arcs", c.operator.span)
        c.because(DELTA, "asked for")
    return asked or DELTA

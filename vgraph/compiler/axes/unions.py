"""`unions`: how many entries the table has in which a block of threads keeps what it knows of disjoint sets."""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.axes.base import Choice
from vgraph.compiler.ir.rewrite import walk


def choose(c: Choice, asked: int | None) -> int:
    """None unless asked for: what it brings has not been measured."""
    if not asked:
        return 0
    if not any(isinstance(n, ir.Union) for n in walk(c.operator)):
        c.refuse("it unites no sets", c.operator.span)
    lists = next((n for n in walk(c.operator) if isinstance(n, ir.ForCommon)), None)
    if lists is not None:
        c.refuse("it compares neighbor lists, which a block marks in its shared memory", lists.span)
    c.because(asked, "asked for")
    return asked

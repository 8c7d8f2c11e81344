"""How deep a program may be nested: the compiler's functions call themselves for what stands inside something else.

The frontend needs more of Python's stack than what follows it, but not by much: a program that got through is measured,
so that no pass, printer or backend runs out of stack.
"""

from __future__ import annotations

import sys
from typing import Final

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.refusals.base import Refusal
from vgraph.source import Span

_FRAMES: Final = 4
"""Of Python's stack, for each level of the IR, at most: a transformation of nested statements."""
_SPARE: Final = 150
"""Frames between the frontend's end and the first level, and levels that lowering adds."""


def too_deep(span: Span) -> Refusal:
    """The refusal of what stands at `span`."""
    return refusals.limits.TooDeep(span, sys.getrecursionlimit())


def check_nesting(program: ir.Program) -> None:
    """Raise a Refusal if the stages after the frontend might need more stack than there is."""
    room = sys.getrecursionlimit() - _frames_in_use() - _SPARE
    assert program.span is not None
    pending: list[tuple[ir.Node, int, Span]] = [(program, 0, program.span)]
    while pending:
        node, depth, at = pending.pop()
        if isinstance(node, ir.Stmt):
            at = node.span or at
        if depth * _FRAMES > room:
            raise too_deep(at)
        pending += [(child, depth + 1, at) for child in ir.children(node)]


def _frames_in_use() -> int:
    frame, count = sys._getframe(), 0
    while frame.f_back is not None:
        frame, count = frame.f_back, count + 1
    return count

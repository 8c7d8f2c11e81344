"""`pipeline`: the two phases side by side, with so many chunks in flight."""

from __future__ import annotations

from vgraph.compiler.axes.base import Choice


def choose(c: Choice, asked: int | None) -> int:
    """Phase after phase, unless chunks in flight are asked for."""
    if asked:
        c.because(asked, "asked for: producers and consumers side by side, with so many chunks in flight")
    return asked or 0

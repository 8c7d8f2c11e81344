"""`payload`: what the buffer between two phases holds."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from vgraph.compiler.analysis.payload import obstacle, payload_bytes
from vgraph.compiler.axes.base import Choice, Traversal
from vgraph.compiler.obstacle import Obstacle
from vgraph.schedule import APPLY_SCATTER, COMPUTED, GATHER_APPLY, RAW, Payload


@cache
def undivided(payload: Payload, arcs: bool) -> Callable[[Traversal], Obstacle | None]:
    """Why an operator cannot be divided in this way, as a fact that a traversal remembers."""
    return lambda at: obstacle(at.operator, payload, arcs=arcs)


def choose(c: Choice, asked: Payload | None) -> Payload:
    """Whichever moves fewer bytes."""
    arcs = c.chosen["phases"] is GATHER_APPLY
    blocked = {p: c.at.once(undivided(p, arcs)) for p in (RAW, COMPUTED)}
    if asked is not None:
        why = blocked[asked]
        if why is not None:
            c.refuse(*why)
        c.because(asked, f"asked for; {_counts(c)}")
        return asked
    for payload, other in ((RAW, COMPUTED), (COMPUTED, RAW)):
        why = blocked[other]
        if why is not None:
            c.because(payload, why.reason)
            return payload
    raw, computed = _bytes(c)
    if c.chosen["phases"] is APPLY_SCATTER:
        # A record per vertex against one per arc; a vertex has two arcs or more even on a road network.
        fewer = RAW if raw <= 2 * computed else COMPUTED
    else:
        fewer = RAW if raw < computed else COMPUTED
    c.because(fewer, f"it moves fewer bytes: {_counts(c)}")
    return fewer


def _bytes(c: Choice) -> tuple[int, int]:
    """Bytes of an element of the buffer: raw, computed."""
    arcs, touched = c.chosen["phases"] is GATHER_APPLY, c.apply.out is not None
    raw, computed = (
        payload_bytes(c.operator, p, c.program.target, arcs=arcs, touched=touched) for p in (RAW, COMPUTED)
    )
    return raw + (arcs and c.apply.frontier is not None), computed


def _counts(c: Choice) -> str:
    raw, computed = _bytes(c)
    unit = "an arc" if c.chosen["phases"] is GATHER_APPLY else "a vertex"
    return f"raw, {raw} bytes {unit}; computed, {computed} bytes an arc"

"""What the compiler may know of a graph and a machine when it chooses a schedule.

Facts are part of the cache's key, so they are few and coarse: graphs alike share code. Exact numbers that a kernel
needs (the width of a bucket, a limit of degrees) are its parameters instead, named `policy.*`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Facts:
    """The defaults describe a small graph, where no choice matters."""

    large: bool = False
    """It has enough arcs for schedules to matter."""
    hubs: bool = False
    """One vertex has so large a part of all arcs that threads would wait for it."""
    deep: bool = False
    """Breadth-first searches take many rounds, as on road networks."""
    transposed: bool = True
    """Arcs can be walked against their direction without building the transpose first."""
    short_lists: bool = False
    """Vertices have so few arcs that a loop over them ends at once: preparing for it does not pay."""
    segments: int = 1
    """Into how many cache-sized parts the values of all vertices fall, at 4 bytes a value; a power of 2."""

"""What the compiler may know of a graph and a machine when it chooses a schedule.

Facts are part of the cache's key, so they are few and coarse: graphs alike share code. Exact numbers that a kernel
needs (the width of a bucket, a limit of degrees) are its parameters instead, named `policy.*` and `graph.*`. So is what
changes between equal calls: `graph.transposed`. Only `slices`, `near` and, on GPUs, `bitmaps` are known of runs, not of
the graph: equal calls get other code once, when a graph is prepared for many runs or has been run on often
(`policy.settled`).
"""

from __future__ import annotations

from typing import Final

from vgraph.records import dataclass

OF_A_PART: Final = "set."
"""The start of the names of all that a member of a set of devices is told of its part of the graph."""
TRANSPOSED: Final = "graph.transposed"
"""The hidden parameter of kernels that says whether in-arcs are there: a transpose is not built for a pull that might
as well be a push. What stands under a test of it may walk in-arcs; see `scan.needs_transpose`."""
PARALLEL: Final = "graph.parallel"
"""The hidden parameter of kernels that says whether a vertex may have two arcs to the same other one."""

DEFERRED: Final = "deferred."
"""Results of kernels that nobody asked for, `deferred.LABEL.PASS`: what a pass put off, in all rounds."""


@dataclass(frozen=True)
class Facts:
    """The defaults describe a small graph, where no choice matters."""

    directed: bool = False
    """Its in-arcs are not its out-arcs: they lie in a transpose, which may not have been built."""
    large: bool = False
    """It has enough arcs for schedules to matter."""
    hubs: bool = False
    """One vertex has so large a part of all arcs that threads would wait for it, or, on a GPU, a block for its own."""
    even: bool = False
    """On a GPU: no vertex has many more arcs than others."""
    long_rounds: bool = False
    """And there are so many arcs, all walked in a few rounds, that what barriers take does not matter."""
    slim: bool = False
    """On a GPU: no vertex has many more arcs than a warp has lanes, and there are vertices for all threads."""
    heavy: bool = False
    """On CPUs: one vertex has so large a part of the arcs along which a round of a search is pushed at most."""
    crowd: int = 0
    """8 or 16 where at least so many threads of a CPU run it on a large graph: barriers of short rounds take longer
    than their work, and what one thread writes lies in another's cache."""
    deep: bool = False
    """Breadth-first searches take many rounds, as on road networks."""
    narrow: bool = False
    """And their frontiers stay small: balls grow as in a plane."""
    short_lists: bool = False
    """Vertices have so few arcs that a loop over them ends at once: preparing for it does not pay."""
    long_lists: bool = False
    """On a GPU: they have so many, on small graphs, too, that lanes share what comparing two lists takes."""
    bitmaps: bool = False
    """What lists have in common had better be found by bitmaps of hubs, for they are long, and mostly of hubs; on a
    GPU by heads of lists: low numbers are those of hubs, too, and so much is run on them that it pays."""
    slices: bool = False
    """Pulls had better walk slices of its arcs: there are enough, and so much is run on them that it pays."""
    near: bool = False
    """On a GPU rows had better be read as differences: nearly all vertices have few neighbors of near ids, and so much
    is run on them that it pays."""
    segments: int = 1
    """Into how many cache-sized parts the values of all vertices fall, at 4 bytes a value; a power of 2."""

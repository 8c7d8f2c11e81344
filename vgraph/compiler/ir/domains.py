"""Domains: what a parallel loop visits, one short class each. Devices have a table `DOMAINS` of who walks which.

Passes and analyses ask a domain what they have to know of it; nobody compares fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from vgraph.compiler.ir.expressions import Var
from vgraph.compiler.ir.node import *
from vgraph.compiler.types import Type

if TYPE_CHECKING:
    from vgraph.compiler.ir.verify import Checker


class Domain(Node):
    """What a parallel loop visits, in any order: `parfor v in DOMAIN { ... }`."""

    layout: ClassVar[Layout | None] = None
    """In which layout the frontier is whose members it visits, if it does."""
    words: ClassVar[bool] = False
    """One thread owns whole 64-bit words of vertex ids, and may write its words of bitmaps without atomics."""
    once: ClassVar[bool] = True
    """A vertex is visited at most once."""
    cuts: ClassVar[bool] = True
    """Its vertices may be visited in pieces, or by lanes that share their arcs."""
    apart: ClassVar[bool] = True
    """Visits of one vertex do not run at the same time, unless it is cut."""
    axis: ClassVar[str] = ""
    """The axis of schedules that asks for it: its record says which devices have no entry for it."""
    device: ClassVar[str] = ""
    """The only device for which it is made; others have another domain in its place."""

    def shared(self) -> Domain:
        """The same vertices, to be cut in pieces or visited by several lanes each."""
        return self


@written("vertices")
class Vertices(Domain):
    """`vertices`: all of the graph."""


@written("vertices words")
class VertexWords(Domain):
    """`vertices words`: all of the graph, 64 in a row by the same thread."""

    words = True
    cuts = False

    def shared(self) -> Domain:
        return Vertices()


@node
class Members(Domain):
    """The members of a frontier in the layout that the class names."""

    frontier: FrontierName


@written("sparse {frontier}")
class SparseMembers(Members):
    """`sparse f`: the members of a frontier, a queue: their places are numbers in it."""

    layout = Layout.SPARSE


@written("bitmap {frontier}")
class BitmapMembers(Members):
    """`bitmap f`: the members of a frontier, whole words of a bitmap by the same thread."""

    layout = Layout.BITMAP
    words = True


@written("vertices segments {count}")
class Segments(Domain):
    """`vertices segments 4`: the vertices (sources of arcs) fall into 4 ranges. For one range after the other, with a
    barrier between, every vertex that has an in-arc from it is visited."""

    count: int
    once = False
    cuts = False
    axis = "segments"
    device = "cpu"

    def verify(self, c: Checker, t: Type) -> None:
        c.require(self.count > 1, "a loop by segments has several", self)


@written("vertices segments {count} sliced")
class SlicedSegments(Segments):
    """`vertices segments 4 sliced`: the same, but in at least 4 ranges, and within one the vertices with as many such
    arcs are side by side."""

    axis = "rows"


@written("vertices segments {count} by {parts}")
class PartedSegments(SlicedSegments):
    """`vertices segments 2 by "64"`: the same with the phases of an edge partition (`graph/layouts/parts.py`) in place
    of ranges of sources: of 64 parts, or of those that an edge property tells. Two stands for any number of phases."""

    parts: Text


@written("vertices slices {count}")
class Slices(Domain):
    """`vertices slices 4`: the sources fall into at least 4 ranges. For each from which it has arcs a vertex is
    visited, once or more, with pieces of these, all at the same time. A block keeps what arcs need of their sources."""

    count: int
    once = False
    cuts = False
    apart = False
    axis = "segments"
    device = "cuda"

    def verify(self, c: Checker, t: Type) -> None:
        c.require(self.count > 1, "a loop by slices has several ranges", self)


@written("vertices slices {count} by {parts}")
class PartedSlices(Slices):
    """`vertices slices 2 by "64"`: the same with the parts of an edge partition (`graph/layouts/part_slices.py`) in
    place of ranges of sources: 64 parts, or those that an edge property tells. Two stands for any number of them."""

    parts: Text
    axis = "parts"


@written("arcs {key} {orientation}( phases {start} to {stop})?")
class PlannedArcs(Domain):
    """`arcs "agm_e" out`: all arcs in the order of a plan (`graph/layouts/plans.py`), each a visit of its source, or
    with `in` of its target. The cells of a phase are walked at the same time, the arcs of a cell one after the other;
    between phases is a barrier. With `phases a to b` only those of these numbers, b not among them."""

    key: Text
    orientation: Orientation
    start: I64Expr | None = None
    stop: I64Expr | None = None
    once = False
    cuts = False
    apart = False
    axis = "conflict"

    def verify(self, c: Checker, t: Type) -> None:
        _verify_bounds(c, self)


@written("listed {array}( from {start} to {stop})?")
class Listed(Domain):
    """`listed set.shared`: the vertices in an array of ids, as often as they stand there; their places are numbers in
    it. `from a to b`: those at the places from a to before b."""

    array: ArrayName
    start: I64Expr | None = None
    stop: I64Expr | None = None
    once = False
    cuts = False
    apart = False

    def verify(self, c: Checker, t: Type) -> None:
        _verify_bounds(c, self)


def _verify_bounds(c: Checker, n: PlannedArcs | Listed) -> None:
    ok = (n.start is None) is (n.stop is None)
    ok = ok and all(isinstance(e, Var | None) for e in (n.start, n.stop))
    c.require(ok, "there is one number and another one, in locals", n)


def members(frontier: str | None, layout: Layout) -> Domain:
    """The members of a frontier in a layout; without one, all vertices."""
    if frontier is None:
        return Vertices()
    return SparseMembers(frontier) if layout is Layout.SPARSE else BitmapMembers(frontier)

"""What two neighbor lists have in common, by the bitmaps of hubs (`graph/layouts/hubs.py`). Kernel level only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgraph.compiler.ir.expressions import Const
from vgraph.compiler.ir.node import *
from vgraph.compiler.ir.statements import Reduce
from vgraph.compiler.types import I64, Type

if TYPE_CHECKING:
    from vgraph.compiler.ir.verify import Checker


@written("markhubs {hubs} {orientation}({of})", at=NOWHERE, kernel=PARFOR)
class MarkHubs(Stmt):
    """`markhubs 8192 out(v)`: those of the 8192 hubs that are neighbors of v are marked, and no others; a visit
    marks only for itself."""

    of: VidExpr
    orientation: Orientation
    hubs: int

    def verify(self, c: Checker, t: Type) -> None:
        _check(c, self)


@written("markedhubs {hubs} {orientation}({of})", at=NOWHERE, kernel=PARFOR)
class MarkedHubs(Expr):
    """`markedhubs 8192 out(v)`: how many of the neighbors of v are marked hubs, as i64."""

    of: VidExpr
    orientation: Orientation
    hubs: int
    type: Type = I64

    def verify(self, c: Checker, t: Type) -> None:
        _check(c, self)


@written("for {vertex} in markedhubs {hubs} {orientation}({of})( {late})? {body}", at=NOWHERE, kernel=PARFOR)
class ForMarkedHubs(Stmt):
    """`for w in markedhubs 8192 out(v) { ... }`: each once, ascending.

    `late { count[w] += 1 }`: it only adds constants at w, to properties that nothing reads before the parallel loop
    around it ends: they may get them then.
    """

    vertex: NewVid
    of: VidExpr
    orientation: Orientation
    hubs: int
    body: LoopBody
    late: bool = False

    def verify(self, c: Checker, t: Type) -> None:
        _check(c, self)
        sums = all(isinstance(s, Reduce) and s.op == "+" and isinstance(s.value, Const) for s in self.body)
        c.require(not self.late or sums, "what may come late is a sum of constants", self)


def _check(c: Checker, n: MarkHubs | MarkedHubs | ForMarkedHubs) -> None:
    c.require(n.hubs > 0, "there is at least one hub", n)

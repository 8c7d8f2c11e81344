"""Disjoint sets at kernel level: what the threads of a block know of them, in a table in front of the property."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgraph.compiler.ir.node import NOWHERE, PARFOR, Expr, PropertyName, Stmt, VidExpr, written
from vgraph.compiler.types import VID, Type

if TYPE_CHECKING:
    from vgraph.compiler.ir.verify import Checker


@written("known {prop}({vertex}) of {entries}", at=NOWHERE, kernel=PARFOR)
class KnownSet(Expr):
    """`known component(x) of 4096`: x, or a smaller id of its set that this block was told of. A table of a block has
    so many entries, in each parallel loop from nothing on, and may forget any."""

    prop: PropertyName
    vertex: VidExpr
    entries: int
    type: Type = VID

    def verify(self, c: Checker, t: Type) -> None:
        _check(c, self)


@written("know {prop}({vertex}) is {same} of {entries}", at=NOWHERE, kernel=PARFOR)
class KnowSet(Stmt):
    """`know component(x) is y of 4096`: tell the block that x and y are in one set; y is not above x."""

    prop: PropertyName
    vertex: VidExpr
    same: VidExpr
    entries: int

    def verify(self, c: Checker, t: Type) -> None:
        _check(c, self)


def _check(c: Checker, n: KnownSet | KnowSet) -> None:
    c.require(n.entries > 0, "a table has entries", n)
    c.require(c.properties[n.prop].disjoint, f"{n.prop} does not hold disjoint sets", n)

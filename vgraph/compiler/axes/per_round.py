"""Whether a direction or a drive is left open until the round: what must hold, and what it may bring."""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import WriteClass, only_claims
from vgraph.compiler.analysis.guards import closes
from vgraph.compiler.axes.base import Choice, Traversal
from vgraph.compiler.axes.hops import peels
from vgraph.schedule import FUSED, PUSH, UNORDERED, VERTEX, Exchange


def loop_around(program: ir.Program, apply: ir.Stmt) -> ir.While | ir.For | None:
    """The innermost loop of the driver that `apply` stands in; None outside of any."""
    found: ir.While | ir.For | None = None
    for n in ir.walk(program):
        if isinstance(n, ir.While | ir.For) and any(inner is apply for inner in ir.walk(n)):
            found = n
    return found


def both_directions(c: Choice) -> bool:
    """True if pushing and pulling are both compiled, and each round takes one of them.

    What makes it pay is that a pull passes over the vertices that are done: claimed, where it stops at the first arc
    that claims, or behind a guard that closes. Long thin searches never have a frontier that is large enough. Whether a
    graph has its transpose is no matter here but at run time: the kernel asks for it (`choose_per_round.py`).
    """
    if c.context.distributed:
        return c.chosen["exchange"] is Exchange.AUTO
    return _worth(c) and c.asked("direction") is None and (claims(c.at) or c.at.once(_guarded))


def both_exchanges(c: Choice) -> bool:
    """The same for a set of devices, where all have to agree on it: for claims, where the arcs of a pull are there.
    Of these members tell each other nothing but who is active."""
    free = c.asked("direction") is None and _worth(c) and not may_lack_arcs(c.at)
    return free and isinstance(c.apply, ir.EdgeApply) and c.apply.out is not None and claims(c.at)


def both_drives(c: Choice) -> bool:
    """True if a push is compiled for a queue and for a bitmap, and each round takes one of them.

    A bitmap is walked in the order of vertices, and so are their arcs and values; a queue costs nothing for those that
    are not in it. It pays where frontiers are now small and now a large part of the graph.
    """
    fits = c.asked("direction") in (None, PUSH) and c.asked("balance") in (None, VERTEX)
    return fits and c.apply.out is not None and _worth(c)


def may_lack_arcs(at: Traversal) -> bool:
    """True if the arcs that a pull walks may not be there: on a directed graph they are those of the transpose."""
    return at.context.facts.directed and isinstance(at.apply, ir.EdgeApply) and not at.apply.reverse


def claims(at: Traversal) -> bool:
    """True if the operator does nothing but claim."""
    return at.effects.classes() == {WriteClass.CLAIMING} and only_claims(at.operator.body)


def _worth(c: Choice) -> bool:
    """True if the apply takes a frontier, round after round, and nothing asked for fixes who is visited."""
    free = (
        all(c.asked(name) is None for name in ("drive", "frontier"))
        and c.asked("hops") in (None, 1)
        and not c.asked("tiles")
    )
    plain = c.asked("phases") in (None, FUSED) and c.chosen.get("order", UNORDERED) == UNORDERED
    return free and plain and not c.effects.exclusive and c.at.once(_changes) and not peels(c)


def _changes(at: Traversal) -> bool:
    """True if frontiers may be now small and now large, round after round."""
    facts = at.context.facts
    shape = facts.large and not facts.deep and at.is_edge and at.apply.frontier is not None
    return shape and loop_around(at.program, at.apply) is not None


def _guarded(at: Traversal) -> bool:
    """True if the operator adds up, or takes minima, at vertices behind a guard that closes in the loop."""
    loop = loop_around(at.program, at.apply)
    if loop is None or not isinstance(at.apply, ir.EdgeApply):
        return False
    gathers = at.effects.classes() <= {WriteClass.ACCUMULATING, WriteClass.MONOTONE}
    return gathers and closes(at.program, at.apply, loop)

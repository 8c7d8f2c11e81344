"""Whether a direction or a drive is left open until the round: what must hold, and what it may bring."""

from __future__ import annotations

from vgraph.compiler.axes.base import Choice
from vgraph.compiler.effects import WriteClass, only_claims
from vgraph.compiler.guards import closes
from vgraph.compiler.ir import EdgeApply, For, Program, Stmt, While
from vgraph.compiler.rewrite import walk
from vgraph.schedule import UNORDERED, VERTEX, Direction, Phases


def loop_around(program: Program, apply: Stmt) -> While | For | None:
    """The innermost loop of the driver that `apply` stands in; None outside of any."""
    found: While | For | None = None
    for n in walk(program):
        if isinstance(n, While | For) and any(inner is apply for inner in walk(n)):
            found = n
    return found


def repeats(c: Choice) -> bool:
    """True if the apply takes a frontier, round after round, and nothing asked for fixes who is visited."""
    free = c.asked("drive") is None and c.asked("frontier") is None
    return free and c.apply.frontier is not None and loop_around(c.program, c.apply) is not None


def both_directions(c: Choice) -> bool:
    """True if pushing and pulling are both compiled, and each round takes one of them.

    What makes it pay is that a pull passes over the vertices that are done: claimed, where it stops at the first arc
    that claims, or behind a guard that closes. Long thin searches never have a frontier that is large enough. Whether a
    graph has its transpose is no matter here but at run time: the kernel asks for it (`choose_per_round.py`).
    """
    if not (_worth(c) and c.asked("direction") is None and repeats(c)):
        return False
    return claims(c) or guarded(c)


def may_lack_arcs(c: Choice) -> bool:
    """True if the arcs that a pull walks may not be there: on a directed graph they are those of the transpose."""
    return c.context.facts.directed and isinstance(c.apply, EdgeApply) and not c.apply.reverse


def claims(c: Choice) -> bool:
    """True if the operator does nothing but claim."""
    return c.effects.classes() == {WriteClass.CLAIMING} and only_claims(c.operator.body)


def guarded(c: Choice) -> bool:
    """True if the operator adds up, or takes minima, at vertices behind a guard that closes in the loop."""
    loop = loop_around(c.program, c.apply)
    if loop is None or not isinstance(c.apply, EdgeApply):
        return False
    gathers = c.effects.classes() <= {WriteClass.ACCUMULATING, WriteClass.MONOTONE}
    return gathers and closes(c.program, c.apply, loop)


def both_drives(c: Choice) -> bool:
    """True if a push is compiled for a queue and for a bitmap, and each round takes one of them.

    A bitmap is walked in the order of vertices, and so are their arcs and values; a queue costs nothing for those that
    are not in it. It pays where frontiers are now small and now a large part of the graph.
    """
    fits = c.asked("direction") in (None, Direction.PUSH) and c.asked("balance") in (None, VERTEX)
    return _worth(c) and fits and repeats(c) and c.apply.out is not None


def _worth(c: Choice) -> bool:
    facts = c.context.facts
    plain = c.asked("phases") in (None, Phases.FUSED) and c.chosen["order"] == UNORDERED
    return facts.large and not facts.deep and plain and c.is_edge

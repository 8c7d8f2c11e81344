"""`deterministic=True`: what of a schedule is settled for an operator whose result depends on the order of its visits.

Sums and products of floats are rounded in the order in which they are made, and who claims first decides what is
written. Along the arcs that enter a vertex there is one order, that of its row: every pull goes through it, whatever
the number of threads. Where a vertex operator adds at other vertices there is none, so that one thread visits all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import Role, WriteClass, effects, role_of
from vgraph.compiler.analysis.pieces import as_reduction
from vgraph.compiler.axes.base import Choice, Traversal
from vgraph.compiler.ir.reductions import is_rounded
from vgraph.records import dataclass
from vgraph.schedule import AXES, VERTEX, Direction, Drive, Payload, Phases, Rows, spelled
from vgraph.source import Span


@dataclass(frozen=True)
class Ordered:
    """A statement whose effect depends on the order of visits, or of the arcs in one, and why."""

    reason: str
    span: Span | None


_ROW: Final[Mapping[str, Any]] = {
    "direction": Direction.PULL, "balance": VERTEX, "vectorize": False, "rows": Rows.CSR
}  # fmt: skip
"""One thread walks all arcs into a vertex, one by one."""
_WHOLE_VISITS: Final[Mapping[str, Any]] = {**_ROW, "segments": 1, "pipeline": 0}
"""So it does, and in one go: what a visit adds to a global is known at its end."""
_IN_TURN: Final[Mapping[str, Any]] = {"drive": Drive.TOPOLOGY, "balance": VERTEX, "vectorize": False}
"""One thread visits all vertices, in the order of their numbers."""


def settle(c: Choice) -> None:
    """Ask for the options that leave one order, and refuse others that the user asked for."""
    for found, needed in c.at.once(_needs):
        reason = f"deterministic=True: {found.reason}"
        if needed.get("direction") is Direction.PULL and c.asked("phases") is Phases.GATHER_APPLY:
            needed = {**needed, "payload": Payload.RAW}  # computed, all that an arc gives is added up first
        for name, value in needed.items():
            c.axis = AXES[name]
            if c.asked(name) not in (None, value):
                c.refuse(reason, found.span, f"use {name}={spelled(value, 'vg.')} or leave it out")
            c.given[name] = value
            c.settled.setdefault(name, reason)
        c.axis = AXES["phases"]
        if needed.get("direction") is Direction.PULL and c.asked("phases") is Phases.APPLY_SCATTER:
            c.refuse(reason, found.span, "use phases=vg.GATHER_APPLY or leave it out")


def in_turn(program: ir.Program, operator: ir.Operator) -> bool:
    """True if one thread has to visit all vertices in their order, for a result that is the same in every run."""
    return any(_in_turn(program, operator))


def _needs(at: Traversal) -> list[tuple[Ordered, Mapping[str, Any]]]:
    """What depends on order, and what of a schedule leaves one. Where both ends of edges are written, the axis
    `conflict` sees to it."""
    return [] if at.effects.exclusive else list(_each(at.program, at.operator, is_edge=at.is_edge))


def _each(
    program: ir.Program, operator: ir.Operator, *, is_edge: bool
) -> Iterator[tuple[Ordered, Mapping[str, Any]]]:
    alone = list(_in_turn(program, operator))
    for found in alone:
        form = {"direction": Direction.PUSH, "phases": Phases.FUSED, "segments": 1} if is_edge else {}
        yield found, {**_IN_TURN, **form}
    for node in () if alone else ir.walk(operator):
        match node:
            case ir.Reduce(prop=prop) if is_rounded(node):
                why = Ordered(f"the sum `{prop}` of floats depends on the order of its parts", node.span)
                yield why, _ROW if is_edge else {"balance": VERTEX, "vectorize": False}
            case ir.ReduceGlobal(name=name) if is_rounded(node):
                why = Ordered(f"the sum `{name}` of floats depends on the order of its parts", node.span)
                yield why, _WHOLE_VISITS if is_edge else {"balance": VERTEX, "vectorize": False}
            case ir.Claim(prop=prop) if is_edge and not _same_for_all(program, operator, node):
                yield Ordered(f"what is written to `{prop}` depends on who claims it first", node.span), _ROW
            case ir.Accumulate() if is_rounded(node):
                why = Ordered("a sum of floats depends on the order of its parts", node.span)
                yield why, {"vectorize": False} if is_edge else {"balance": VERTEX, "vectorize": False}
            case ir.Stmt() if not is_edge and _own_sum(operator, node):
                yield (
                    Ordered("a sum of floats depends on the order of its parts", node.span),
                    {"balance": VERTEX},
                )


def _own_sum(operator: ir.Operator, n: ir.Stmt) -> bool:
    """Whether a vertex operator adds to a float of its own vertex, which pieces could share."""
    found = as_reduction(n, operator.args[0])
    return isinstance(found, ir.Reduce) and is_rounded(found)


def _in_turn(program: ir.Program, operator: ir.Operator) -> Iterator[Ordered]:
    """What has no order but that of the visits."""
    united = {w.prop for w in effects(operator).writes if w.kind is WriteClass.MERGING}
    names = {id(e) for n in ir.walk(operator) if isinstance(n, ir.Union) for e in (n.a, n.b)}
    for n in ir.walk(operator):
        match n:
            case ir.Load(prop=prop) if prop in united and id(n) not in names:
                yield Ordered(
                    f"which id of a set `{prop}` is while sets are united depends on the order", n.span
                )
            case ir.Reduce(prop=prop, index=index) if _elsewhere(operator, index) and is_rounded(n):
                yield Ordered(f"the sum `{prop}` of floats depends on the order of its parts", n.span)
            case ir.Claim(prop=prop, index=index) if _elsewhere(operator, index):
                if not _same_for_all(program, operator, n):
                    yield Ordered(f"what is written to `{prop}` depends on who claims it first", n.span)


def _elsewhere(operator: ir.Operator, index: ir.Expr) -> bool:
    return role_of(operator, index) in (Role.NEIGHBOR, Role.EDGE)


def _same_for_all(program: ir.Program, operator: ir.Operator, claim: ir.Claim) -> bool:
    """Whether all who might claim a place would do the same: nothing of theirs is in it, only of the place."""
    if sum(isinstance(n, ir.Claim) for n in ir.walk(operator)) > 1:
        return False
    known = {p.name for p in program.params}
    if isinstance(claim.index, ir.Var):
        known.add(claim.index.name)
    written = effects(operator).written
    parts: tuple[ir.Node, ...] = (claim.expected, claim.value, *claim.body)
    nodes = [n for part in parts for n in ir.walk(part)]
    own = all(isinstance(n.index, ir.Var) and n.prop not in written for n in nodes if isinstance(n, ir.Load))
    return own and all(n.name in known for n in nodes if isinstance(n, ir.Var))

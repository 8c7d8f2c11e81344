"""Loops over arcs as gathers: what they touch at the other end, and which may take several arcs at a time."""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.obstacle import Obstacle
from vgraph.compiler.types import VID, Kind, Scalar, Target, Type

_ACCESSES: Final = (ir.Load, ir.Store, ir.Reduce, ir.CompareAndSwap)
_NUMBERS: Final = (Kind.SIGNED, Kind.UNSIGNED, Kind.FLOAT)
_ARITHMETIC: Final = ("+", "-", "*", "min", "max")


def touched(body: ir.Body, vertex: str) -> dict[str, bool]:
    """The properties that `body` reads or writes at `vertex`, in order; true where it writes."""
    found: dict[str, bool] = {}
    for top in body:
        for n in ir.walk(top):
            if isinstance(n, _ACCESSES) and isinstance(n.index, ir.Var) and n.index.name == vertex:
                found[n.prop] = found.get(n.prop, False) or not isinstance(n, ir.Load)
    return found


def reductions_of(body: ir.Body) -> tuple[tuple[str, ir.Expr], ...] | None:
    """(operation, value) of each statement, if the body does nothing but reduce; else None."""
    found = tuple((s.op, s.value) for s in body if isinstance(s, ir.Accumulate | ir.Reduce))
    return found if found and len(found) == len(body) else None


def sum_of(loop: ir.ForNeighbors) -> ir.Accumulate | None:
    """The statement of a loop over arcs that does nothing but add to a local what does not depend on it; else None."""
    match loop.body:
        case (ir.Accumulate(name=name, value=value) as found,) if isinstance(value.type, Scalar):
            read = any(isinstance(n, ir.Var) and n.name == name for n in ir.walk(value))
            return None if read or any(isinstance(n, ir.HasNeighbor) for n in ir.walk(value)) else found
    return None


def varies(e: ir.Expr, vertex: str, edge: str) -> bool:
    """Whether `e` may differ from arc to arc."""
    return any(isinstance(n, ir.Var) and n.name in (vertex, edge) for n in ir.walk(e))


def vector_obstacle(body: ir.Body, vertex: str, edge: str) -> Obstacle | None:
    """Why a loop with this body cannot take several arcs at a time; None if it can.

    It can where every statement sums, or takes the minimum or maximum of, numbers of 32 or 64 bits that are computed
    by + - * min max from properties of the other end, of the arc, and from what is the same for all arcs.
    """
    if reductions_of(body) is None:
        other = next((s.span for s in body if not isinstance(s, ir.Accumulate | ir.Reduce)), None)
        return Obstacle(
            "only sums, minima and maxima, without conditions, take several arcs at a time", other
        )
    for statement in body:
        assert isinstance(statement, ir.Accumulate | ir.Reduce)
        if isinstance(statement, ir.Reduce) and varies(statement.index, vertex, edge):
            return Obstacle(f"`{statement.prop}` is written at the other end of each arc", statement.span)
        if statement.op not in (*ir.ACCUMULATING, "min", "max"):
            return Obstacle(f"`{statement.op}=` is not a sum, minimum or maximum", statement.span)
        value = statement.value
        if not _is_number(value.type) and value.type != VID:
            reason = f"values of type {value.type} do not fit the lanes of a vector register"
            return Obstacle(reason, statement.span)
        scalar = _scalar_only(value, vertex, edge)
        if scalar is not None:
            return Obstacle(scalar, statement.span)
    if not any(varies(value, vertex, edge) for _, value in reductions_of(body) or ()):
        return Obstacle("the same is added for every arc", body[0].span)
    return None


def loop_obstacle(loop: ir.ForNeighbors) -> Obstacle | None:
    """The same of a loop as it will be run: what it sums up is in locals, not in memory."""
    found = vector_obstacle(loop.body, loop.vertex, loop.edge)
    for statement in loop.body if found is None else ():
        if isinstance(statement, ir.Reduce):
            return Obstacle(f"`{statement.prop}` is written for each arc: sum up in a local", statement.span)
    return found


def _scalar_only(e: ir.Expr, vertex: str, edge: str) -> str | None:
    """Why `e` is not computed for several arcs at a time; None if it is."""
    if not varies(e, vertex, edge) or isinstance(e, ir.Var):
        return None
    match e:
        case ir.Load(index=ir.Var(name=name), type=t) if name in (vertex, edge):
            return None if _is_number(t) or t == VID else f"values of type {t} are not gathered"
        case ir.Binary(op=op, left=a, right=b) if op in _ARITHMETIC:
            return _scalar_only(a, vertex, edge) or _scalar_only(b, vertex, edge)
        case ir.Unary(op="neg", operand=a):
            return _scalar_only(a, vertex, edge)
        case ir.Cast(to=to, operand=a) if _widens(a.type, to):
            return _scalar_only(a, vertex, edge)
    return "it computes more than + - * min max from what it gathers"


def _widens(given: Type, to: Type) -> bool:
    """Whether a cast is one instruction on a vector: between integers, or from numbers to floats."""
    if given == VID:
        return _is_number(to)
    if not _is_number(given) or not _is_number(to):
        return False
    assert isinstance(given, Scalar)
    assert isinstance(to, Scalar)
    return to.is_float or not given.is_float


def _is_number(t: Type) -> bool:
    return isinstance(t, Scalar) and t.kind in _NUMBERS


def lanes_of(body: ir.Body, vertex: str, edge: str, target: Target) -> int:
    """How many arcs fit a register of 512 bits: 16 if all that varies has 32 bits, else 8."""
    widths = [
        target.width(n.type)
        for s in body
        for n in ir.walk(s)
        if isinstance(n, ir.Expr) and isinstance(n.type, Scalar) and n.type.kind in (*_NUMBERS, Kind.INDEX)
        if varies(n, vertex, edge) and not (isinstance(n, ir.Var) and n.name == edge)
    ]
    return 512 // max([32, *widths])


__all__ = ["lanes_of", "loop_obstacle", "reductions_of", "touched", "varies", "vector_obstacle"]

"""Searches: loops whose rounds claim the vertices next to those claimed before, so that rounds are distances.

A vertex is then claimed in the round of its distance from the source, however the distance is found: rounds need not
be made one by one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import Role, WriteClass, effects, fixed_claim, is_round_loop, role_of
from vgraph.compiler.obstacle import Blocked, or_obstacle
from vgraph.compiler.types import VID, Scalar, Type, limits
from vgraph.records import dataclass

UPWARDS = (0, 1)
"""What is counted by so much a round wraps in no type: there are no more rounds than vertices."""
SMALL = 1 << 30
"""Nor does it come to the largest number, where it starts at this at most."""


@dataclass(frozen=True)
class Search:
    """A search: its claim, where it starts, and what each round adds to globals before and behind the apply.

    `level`: what the source holds, and by how much more each vertex holds than the one that claimed it; None where no
    claim depends on what its source holds.
    """

    claim: ir.Claim
    source: ir.Expr
    before: dict[str, int]
    behind: dict[str, int]
    level: tuple[int, int] | None


@or_obstacle
def search(program: ir.Program, apply: ir.Apply) -> Search:
    """The search whose one apply this is, or why it is none."""
    operator, found = program.operator(apply.op), effects(program.operator(apply.op))
    claim = fixed_claim(operator) if found.classes() == {WriteClass.CLAIMING} else None
    if claim is None or role_of(operator, claim.index) is not Role.DST or found.globals_reduced:
        raise Blocked("it does more than claim the far ends of arcs", operator.span)
    for read in found.reads:
        if read.prop in found.written and (read.prop, read.role) != (claim.prop, Role.SRC):
            raise Blocked(f"`{read.prop}` is read and claimed", read.span)
    before, loop = _loop(program, apply)
    counted = _counted(loop, apply)
    rounds = {claim.prop, *(f"@{name}" for side in counted for name in side)}
    for n in ir.walk(operator):
        if isinstance(n, ir.If | ir.Claim):
            test = n.condition if isinstance(n, ir.If) else n.expected
            if any(_names(x) in rounds for x in ir.walk(test)):
                raise Blocked("what is claimed depends on the round", n.span)
    assert apply.frontier is not None
    marked, starts = _start(before, apply.frontier, claim)
    level = None
    if any(_names(n) == claim.prop for n in ir.walk(operator) if isinstance(n, ir.Load)):
        level = _level(claim, marked)
        starts[claim.prop] = level[0]
    rising = {n: v for n, v in starts.items() if _rises(n.removeprefix("@"), counted)}
    if not _differs(claim.value, claim.expected, rising, _visited(operator)):
        raise Blocked(f"`{claim.prop}` may be given the value that says it is not yet claimed", claim.span)
    return Search(claim, marked.index, *counted, level)


def claims_once(program: ir.Program, operator: ir.Operator) -> bool:
    """Whether what is claimed is never given the value that says it is not yet claimed, so that nobody claims it again.

    Globals are known that are set to numbers and counted upwards, here by at most 1, that no narrow type wraps.
    """
    least: dict[str, float] = {}
    unknown = {n.name for op in program.operators for n in ir.walk(op) if isinstance(n, ir.ReduceGlobal)}
    for n in (n for stmt in program.body for n in ir.walk(stmt) if isinstance(n, ir.SetGlobal)):
        match n.value:
            case ir.Const(value=int(number) | float(number)) if number <= SMALL:
                least[n.name] = min(number, least.get(n.name, number))
            case ir.Binary("+", ir.GlobalVar(name=same), ir.Const(value=by)) if (
                same == n.name and by in UPWARDS
            ):
                pass
            case _:
                unknown.add(n.name)
    known = {f"@{name}": number for name, number in least.items() if name not in unknown}
    claims = [n for n in ir.walk(operator) if isinstance(n, ir.Claim)]
    return all(_differs(n.value, n.expected, known, _visited(operator)) for n in claims)


def infinite(t: Type) -> float:
    """What `vg.inf` is in a type of numbers: the largest of integers."""
    return limits(t)[1] if isinstance(t, Scalar) and t.is_integer else math.inf


def _visited(operator: ir.Operator) -> frozenset[str]:
    """Locals that are vertices, never none: arguments, and what loops visit. Others may hold none."""
    loops = (n.vertex for n in ir.walk(operator) if isinstance(n, ir.ForNeighbors | ir.ForCommon))
    given = {n.name for n in ir.walk(operator) if isinstance(n, ir.Let | ir.Assign)}
    return frozenset({*operator.args, *loops} - given)


def _names(n: ir.Node) -> str | None:
    """The global, as `@name`, or the property that an expression reads."""
    return f"@{n.name}" if isinstance(n, ir.GlobalVar) else n.prop if isinstance(n, ir.Load) else None


def _level(claim: ir.Claim, marked: ir.Store) -> tuple[int, int]:
    """What the source holds, and how much more each round gives, of what is claimed by `level[src] + 1`."""
    match claim.value, marked.value:
        case ir.Binary("+", ir.Load(prop=prop), ir.Const(value=int(by))), ir.Const(value=int(start)):
            if prop == claim.prop and by in UPWARDS:
                return start, by
    raise Blocked(f"`{claim.prop}` is read and claimed", claim.span)


def _loop(program: ir.Program, apply: ir.Stmt) -> tuple[ir.Body, ir.While]:
    """The loop around the apply, and the statements before it."""
    for body in ir.bodies(program.body):
        for k, stmt in enumerate(body):
            if isinstance(stmt, ir.While) and any(s is apply for s in stmt.body):
                return body[:k], stmt
    raise Blocked("its rounds are not those of a `while frontier:` loop", apply.span)


def _counted(loop: ir.While, apply: ir.Apply) -> tuple[dict[str, int], dict[str, int]]:
    """What is added to globals before the apply, and behind it, if the loop does nothing else."""
    if not is_round_loop(loop, apply):
        raise Blocked("its rounds are not those of a `while frontier:` loop", apply.span)
    counted: tuple[dict[str, int], dict[str, int]] = ({}, {})
    behind = 0
    for stmt in loop.body:
        match stmt:
            case ir.SetGlobal(
                name=name, value=ir.Binary("+", ir.GlobalVar(name=same), ir.Const(value=int(by)))
            ) if name == same and name not in counted[0] and name not in counted[1]:
                counted[behind][name] = by
            case _ if stmt is apply:
                behind = 1
            case _:
                raise Blocked("its loop does more than count rounds", stmt.span)
    return counted


def _start(before: ir.Body, frontier: str, claim: ir.Claim) -> tuple[ir.Store, dict[str, int]]:
    """What claims the vertex that is the first frontier, and what numbers globals hold."""
    source: ir.Expr | None = None
    marked: ir.Store | None = None
    starts: dict[str, int | None] = {}
    copies: dict[str, ir.Expr] = {}
    for stmt in reversed(before):
        match stmt:
            case ir.Let(name=name, value=value) if _is_fixed(value):
                copies[name] = value
            case ir.If(then=(ir.Fail(),), other=()):
                pass
            case ir.FrontierSet(out=out, vertex=ir.Expr() as vertex) if _is_fixed(vertex):
                source = vertex if out == frontier and source is None else source
            case ir.Store(prop=prop):
                marked = stmt if prop == claim.prop and marked is None else marked
            case ir.SetGlobal(name=name, value=value):
                number = value.value if isinstance(value, ir.Const) else None
                starts.setdefault(name, number if isinstance(number, int) else None)
            case ir.Fill() | ir.FillEach() if stmt.prop != claim.prop:
                pass
            case _:
                break

    def same(n: ir.Node) -> ir.Node | None:
        return ir.transform(copies[n.name], same) if isinstance(n, ir.Var) and n.name in copies else None

    if source is None or marked is None or ir.transform(marked.index, same) != ir.transform(source, same):
        raise Blocked("it does not start at one vertex that is claimed before", claim.span)
    stored = frozenset(n.name for n in ir.walk(ir.transform(marked.index, same)) if isinstance(n, ir.Var))
    if not _differs(ir.transform(marked.value, same), claim.expected, {}, stored):
        raise Blocked("the vertex at which it starts may not be claimed before", marked.span)
    return marked, {f"@{name}": value for name, value in starts.items() if value is not None}


def _is_fixed(e: ir.Expr) -> bool:
    """Whether an expression has the same value before fills, stores and globals that are set."""
    return all(isinstance(n, ir.Var | ir.Const | ir.Cast) for n in ir.walk(e))


def _rises(name: str, counted: tuple[dict[str, int], dict[str, int]]) -> bool:
    return sum(by.get(name, 0) for by in counted) in UPWARDS


def _differs(value: ir.Expr, expected: ir.Expr, least: Mapping[str, float], visited: frozenset[str]) -> bool:
    """Whether a value is never what is expected; `least`: what globals, as `@name`, and properties are at least;
    `visited`: locals that are vertices, never none."""
    if isinstance(value, ir.Cast) and isinstance(value.type, Scalar) and value.type.is_integer:
        value = value.operand
    match value:
        case ir.Binary("+", left, ir.Const(value=by)) if by in UPWARDS:
            value = left
    match value, expected:
        case ir.Const(value=a), ir.Const(value=b):
            return bool(a != b)
        case ir.Var(name=local, type=t), ir.Const(value=-1):
            return t == VID and local in visited
        case ((ir.GlobalVar() | ir.Load()), ir.Const(value=int(b) | float(b))):
            name = _names(value) or ""
            return name in least and (b < least[name] or b == infinite(expected.type))
    return False


__all__ = ["Search", "claims_once", "infinite", "search"]

"""`small-rounds-alone`: rounds with few active vertices are one thread's, without barriers between them.

before: `while size(f) > 0 { round }`
after:  `while size(f) > 0 { if few { alone { while size(f) > 0 and few { round } } } else { round } }`, where `few` is
        `size(f) <= policy.alone`

So few vertices are one chunk of a parallel loop: the other threads would find nothing to do in it and meet the first at
a barrier, and what one round writes would travel between caches in the next. Only loops whose rounds visit the members
of frontiers, not all vertices, are changed, for there a small frontier means little work.
"""

from __future__ import annotations

from vgraph.compiler.ir import (
    Alone,
    Break,
    Compare,
    Const,
    Expr,
    For,
    ForCommon,
    ForNeighbors,
    FrontierPush,
    FrontierSize,
    FrontierSwap,
    If,
    Level,
    Logical,
    Node,
    Param,
    ParFor,
    Program,
    Stmt,
    Var,
    While,
)
from vgraph.compiler.rewrite import Context, Pass, transform_body, walk, with_fields
from vgraph.compiler.types import I64
from vgraph.compiler.verify_nodes import ONE_FOR_EACH

LIMIT = Param("policy.alone", I64)


def _loops_over_members(body: tuple[Stmt, ...], frontier: str) -> bool:
    """Whether `body` is parallel loops over members of frontiers, and what else one thread can do as well.

    Arcs are walked of the members of `frontier` only, or of those that a filter leaves: of what these lead to there may
    be very many.
    """
    nodes = [n for stmt in body for n in walk(stmt)]
    loops = [n for n in nodes if isinstance(n, ParFor)]
    if not loops or any(isinstance(n, ONE_FOR_EACH) for n in nodes):
        return False
    few = {frontier}
    for n in nodes:
        if isinstance(n, FrontierSwap) and n.right in few:
            few.add(n.left)
        if isinstance(n, ParFor):
            if n.frontier is None or n.cut is not None or n.segments > 1:
                return False
            inside = list(walk(n))
            if n.frontier in few:
                few |= {m.frontier for m in inside if isinstance(m, FrontierPush) and _is(m.vertex, n.vertex)}
            elif any(isinstance(m, ForNeighbors | ForCommon) for m in inside):
                return False
    return True


def _is(vertex: Expr, name: str) -> bool:
    return isinstance(vertex, Var) and vertex.name == name


def _leaves(body: tuple[Stmt, ...]) -> bool:
    """Whether a `break` in `body` leaves the loop around it."""
    for stmt in body:
        if isinstance(stmt, Break):
            return True
        if isinstance(stmt, If) and (_leaves(stmt.then) or _leaves(stmt.other)):
            return True
    return False


def _small(n: Node) -> Node | None:
    if not isinstance(n, While):
        return None
    match n.condition:
        case Compare(op=">", left=FrontierSize() as size, right=Const(value=0)):
            pass
        case _:
            return None
    driver = _driver(n.body)
    if (
        any(isinstance(s, While | For) for s in driver)
        or _leaves(n.body)
        or not _loops_over_members(n.body, size.frontier)
    ):
        return None
    few: Expr = Compare("<=", size, Var(LIMIT.name, I64))
    rounds = While(Logical("and", n.condition, few), n.body)
    return with_fields(n, {"body": (If(few, (Alone((rounds,)),), n.body),)})


def _driver(body: tuple[Stmt, ...]) -> list[Stmt]:
    """The statements of `body` that belong to the driver loop."""
    found = list(body)
    for stmt in body:
        if isinstance(stmt, If):
            found += _driver(stmt.then) + _driver(stmt.other)
        elif isinstance(stmt, While | For):
            found += _driver(stmt.body)
    return found


def _run(program: Program, context: Context) -> Program:
    if context.threads == 1 or context.abilities.warps:
        return program
    body = transform_body(program.body, _small)
    if body == program.body:
        return program
    return with_fields(program, {"body": body, "params": (*program.params, LIMIT)})


small_rounds_alone = Pass("small-rounds-alone", _run, takes=Level.KERNEL, gives=Level.KERNEL)

"""Guards: the conditions on dst alone around all that an edge operator does, as in `if dst.level == -1: ...`."""

from __future__ import annotations

from collections.abc import Iterator

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import effects


def parts(condition: ir.Expr) -> Iterator[ir.Expr]:
    """The operands of the `and`s of a condition, from left to right."""
    match condition:
        case ir.Logical(op="and", left=left, right=right):
            yield from parts(left)
            yield from parts(right)
        case _:
            yield condition


def only_dst(program: ir.Program, operator: ir.Operator, e: ir.Expr) -> bool:
    """True if `e` reads nothing but dst, its properties, and what is the same in the whole round."""
    dst = operator.args[2]
    same = {p.name for p in program.params} | {dst}
    nodes = list(ir.walk(e))
    own = all(isinstance(x.index, ir.Var) and x.index.name == dst for x in nodes if isinstance(x, ir.Load))
    return own and all(x.name in same for x in nodes if isinstance(x, ir.Var))


def tests_of_dst(program: ir.Program, operator: ir.Operator) -> Iterator[ir.Expr]:
    """The conditions around all that the operator does that depend on nothing but dst."""
    body = operator.body
    while len(body) == 1 and isinstance(body[0], ir.If) and not body[0].other:
        yield from (part for part in parts(body[0].condition) if only_dst(program, operator, part))
        body = body[0].then


def lasting_tests(program: ir.Program, operator: ir.Operator) -> list[ir.Expr]:
    """Those of `tests_of_dst` that no arc of the round changes: of properties that the operator does not write."""
    written = effects(operator).written
    return [
        test
        for test in tests_of_dst(program, operator)
        if not any(isinstance(x, ir.Load) and x.prop in written for x in ir.walk(test))
    ]


def without(body: ir.Body, tests: list[ir.Expr]) -> ir.Body:
    """The body where `tests`, which are around all of it, are known to hold."""
    if len(body) != 1 or not isinstance(body[0], ir.If) or body[0].other:
        return body
    head = body[0]
    left = [part for part in parts(head.condition) if part not in tests]
    then = without(head.then, tests)
    if not left:
        return then
    condition = left[0]
    for part in left[1:]:
        condition = ir.Logical("and", condition, part)
    return (ir.with_fields(head, {"condition": condition, "then": then}),)


def closes(program: ir.Program, apply: ir.EdgeApply, loop: ir.While | ir.For) -> bool:
    """True if a vertex that the operator once updates leaves it alone later, as far as can be told.

    That is: all it does is under a test `dst.p == constant`, and `p` is written in the loop, by others, but never that
    constant. Nothing but the choice of a direction depends on it; a pull looks at the guard anew in each round.
    """
    operator = program.operator(apply.op)
    return any(_closed_in(program, loop, test) for test in lasting_tests(program, operator))


def _closed_in(program: ir.Program, loop: ir.While | ir.For, test: ir.Expr) -> bool:
    match test:
        case ir.Compare(op="==", left=ir.Load(prop=prop), right=ir.Const() as opened):
            pass
        case _:
            return False
    stored: list[ir.Expr | None] = []
    for n in ir.walk(loop):
        match n:
            case ir.Store(value=value) | ir.Fill(value=value) if n.prop == prop:
                stored.append(value)
            case ir.VertexApply(op=name) | ir.EdgeApply(op=name):
                found = program.operator(name)
                stored += [x.value for x in ir.walk(found) if isinstance(x, ir.Store) and x.prop == prop]
    return bool(stored) and all(value is not None and value != opened for value in stored)

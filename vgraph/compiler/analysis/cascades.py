"""Cascades: loops in which an update takes away from open vertices until a filter takes those of which little is left
and closes them; their arcs lead to more updates. Which vertices are taken does not depend on the order.

    while size(f) > 0 { near = edge_apply(leave, f) for peel; f = vertex_apply(peel, near) }

So a vertex may be taken as soon as little is left of it. What is left of it in the end then depends on the order, and
nobody may read it: behind the beginning of the loop, every look at the number is at an open vertex.
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import Role, effects, role_of
from vgraph.compiler.analysis.guards import parts
from vgraph.compiler.obstacle import Blocked, or_obstacle
from vgraph.compiler.types import BOOL, VID, Kind, Scalar
from vgraph.records import dataclass

_FIXED = (ir.Const, ir.GlobalVar, ir.Cast, ir.Binary, ir.Unary, ir.GraphSize)
_CLOSED = ir.Const(False, BOOL)
Open = frozenset[ir.Expr]
"""Vertices that are known to be open."""


@dataclass(frozen=True)
class Cascade:
    """A cascade: the filter behind the update, and the flag, which is true of open vertices."""

    filter: ir.VertexApply
    flag: str


@or_obstacle
def cascade(program: ir.Program, apply: ir.Apply) -> Cascade:
    """The cascade whose update `apply` is, or why it is none."""
    taking = _filter(program, apply)
    update, chosen = program.operator(apply.op), program.operator(taking.op)
    number = _number(program, update)
    flag = _flag(chosen, number)
    dst = update.args[2]
    loads = (n for n in ir.walk(update) if isinstance(n, ir.Load) and n.prop in effects(chosen).written)
    for n in loads:
        if n.prop != flag or role_of(update, n.index) is not Role.DST:
            raise Blocked(f"`{n.prop}` is read, and written in the same loop", n.span)
    counted = {n.name for n in ir.walk(chosen) if isinstance(n, ir.ReduceGlobal)}
    for e in ir.walk(update):
        if isinstance(e, ir.GlobalVar) and e.name in counted:
            raise Blocked(f"`{e.name}` is read, and counted in the same loop", e.span)
    if not all(isinstance(s, ir.If) and not s.other and _open(s.condition, flag, dst) for s in update.body):
        raise Blocked(f"it takes away from vertices whose `{flag}` is off", update.span)
    behind = next(
        program.body[k:] for k, top in enumerate(program.body) if any(n is apply for n in ir.walk(top))
    )
    _unseen(program, behind, number, flag, update.name)
    return Cascade(taking, flag)


def _filter(program: ir.Program, apply: ir.Apply) -> ir.VertexApply:
    """The filter behind the update, if the loop does nothing else."""
    for body in ir.bodies(program.body):
        for loop in body:
            match loop:
                case ir.While(
                    ir.Compare(">" | "!=", ir.FrontierSize(name), ir.Const(0)),
                    (ir.EdgeApply() as update, ir.VertexApply() as taking),
                ) if update is apply and update.only == taking.op:
                    if update.frontier == taking.out == name and update.out == taking.frontier:
                        return taking
    raise Blocked("its rounds can be observed: no filter takes what it changes and ends its loop", apply.span)


def _number(program: ir.Program, update: ir.Operator) -> str:
    """The number from which the update takes fixed amounts, if it does nothing else."""
    names = set()
    for n in (n for n in ir.walk(update) if isinstance(n, ir.Stmt) and not isinstance(n, ir.If)):
        match n:
            case ir.Reduce("+", prop, index, ir.Const(int(by))) if (
                by < 0 and role_of(update, index) is Role.DST
            ):
                names.add(prop)
            case _:
                raise Blocked("it does more than take fixed numbers away at the far ends of arcs", n.span)
    if len(names) != 1 or not isinstance(program.property(next(iter(names))).type, Scalar):
        raise Blocked("it does more than take fixed numbers away from one property", update.span)
    return names.pop()


def _flag(chosen: ir.Operator, number: str) -> str:
    """The flag that the filter asks for and turns off, if it takes a vertex by that and by how little is left."""
    v, flags = ir.Var(chosen.args[0], VID), []
    kept, then = _taken(chosen)
    for part in parts(kept):
        match part:
            case ir.Load(prop, index) if index == v and part.type == BOOL:
                flags.append(prop)
            case ir.Compare("<" | "<=", small, most) if _is_fixed(most):
                while isinstance(small, ir.Cast) and _keeps_order(small):
                    small = small.operand
                if not (isinstance(small, ir.Load) and (small.prop, small.index) == (number, v)):
                    raise Blocked("it takes vertices by something else than how little is left", chosen.span)
            case _:
                raise Blocked("it takes vertices by something else than how little is left", chosen.span)
    reduced = {n.name for n in then if isinstance(n, ir.ReduceGlobal)}
    written = [n.prop for n in then if isinstance(n, ir.Store)]
    closed = {n.prop for n in then if isinstance(n, ir.Store) and n.value == _CLOSED}
    if any(isinstance(n, ir.GlobalVar) and n.name in reduced for n in ir.walk(chosen)) or number in written:
        raise Blocked("it reads what it changes", chosen.span)
    if len(flags) != 1 or flags[0] not in closed or len(set(written)) != len(written):
        raise Blocked("it turns off no flag of the vertices that it takes", chosen.span)
    return flags[0]


def _taken(chosen: ir.Operator) -> tuple[ir.Expr, ir.Body]:
    """The condition under which the filter takes its vertex, and what it does with it: numbers are set and reduced."""
    v, values = chosen.args[0], dict[str, ir.Expr]()
    match chosen.body:
        case (*lets, ir.If(condition, then, ()), ir.Emit(emitted)):
            for s in lets:
                if isinstance(s, ir.Let):
                    values[s.name] = ir.substitute(s.value, values)
            kept = ir.substitute(emitted, values)
            plain = all(
                isinstance(n, ir.ReduceGlobal) or (isinstance(n, ir.Store) and n.index == ir.Var(v, VID))
                for n in then
            )
            fixed = plain and all(
                _is_fixed(n.value) for n in then if isinstance(n, ir.Store | ir.ReduceGlobal)
            )
            if len(values) == len(lets) and ir.substitute(condition, values) == kept and fixed:
                return kept, then
    raise Blocked("its filter does more than take vertices", chosen.span)


def _keeps_order(e: ir.Cast) -> bool:
    """Whether less stays less, of signed numbers and floats."""
    old, new = e.operand.type, e.to
    if not (isinstance(old, Scalar) and isinstance(new, Scalar)):
        return False
    return new.is_float or (new.kind is old.kind is Kind.SIGNED and new.bits >= old.bits)


def _is_fixed(e: ir.Expr) -> bool:
    """Whether an expression is the same throughout the loop, which sets no globals."""
    return isinstance(e, _FIXED) and all(isinstance(n, _FIXED) for n in ir.walk(e))


def _open(condition: ir.Expr, flag: str, v: str) -> bool:
    return any(
        isinstance(p, ir.Load) and (p.prop, p.index) == (flag, ir.Var(v, VID)) for p in parts(condition)
    )


# --- what is read, and where ------------------------------------------------------------------------------------


def _unseen(program: ir.Program, behind: ir.Body, number: str, flag: str, update: str) -> None:
    """Refuse a program that may see the number of a vertex that was taken, or opens one again."""
    nodes = [n for s in behind for n in ir.walk(s)] + list(behind)
    for n in nodes:
        if isinstance(n, ir.Fill | ir.FillEach | ir.Store) and n.prop == flag:
            raise Blocked(f"`{flag}` is set behind the loop", n.span)
        if isinstance(n, ir.Load) and n.prop == number:
            raise Blocked(f"`{number}` is read of vertices that were taken, too", n.span)
    if any(r.value == number for r in program.results):
        raise Blocked(f"`{number}` is a result, of vertices that were taken, too", None)
    for name in {n.op for n in nodes if isinstance(n, ir.Apply)} - {update}:
        operator = program.operator(name)
        for n in ir.walk(operator):
            opens = isinstance(n, ir.Store | ir.Reduce | ir.Claim) and n.prop == flag and n.value != _CLOSED
            if opens:
                raise Blocked(f"`{flag}` is set in `{name}`", n.span)
        _Reads(operator, number, flag).visit(operator.body, frozenset())


class _Reads:
    """The reads of the number in an operator, which have to be of open vertices."""

    def __init__(self, operator: ir.Operator, number: str, flag: str) -> None:
        self.operator, self.number, self.flag = operator, number, flag
        self.assigned = {n.name for n in ir.walk(operator) if isinstance(n, ir.Assign | ir.Accumulate)}
        self.values: dict[str, ir.Expr] = {}

    def opened(self, condition: ir.Expr) -> Open:
        """The vertices that are open where it holds."""
        tests = parts(ir.substitute(condition, self.values))
        return frozenset(p.index for p in tests if isinstance(p, ir.Load) and p.prop == self.flag)

    def visit(self, body: ir.Body, known: Open) -> None:
        for s in body:
            for e in ir.children(s):
                if isinstance(e, ir.Expr):
                    self.look(e, known)
            if isinstance(s, ir.Store) and s.prop == self.flag:
                known = frozenset()
            if isinstance(s, ir.Let) and s.name not in self.assigned:
                self.values[s.name] = ir.substitute(s.value, self.values)
            if isinstance(s, ir.If):
                self.visit(s.then, known | self.opened(s.condition))
                self.visit(s.other, known)
            else:
                self.visit(tuple(n for n in ir.children(s) if isinstance(n, ir.Stmt)), frozenset())

    def look(self, e: ir.Node, known: Open) -> None:
        if isinstance(e, ir.Load) and e.prop == self.number and e.index not in known:
            where = f"`{self.number}` is read in `{self.operator.name}` of vertices that were taken, too"
            raise Blocked(where, e.span or self.operator.span)
        if isinstance(e, ir.Logical) and e.op == "and":
            self.look(e.left, known)
            self.look(e.right, known | self.opened(e.left))
            return
        for part in ir.children(e):
            self.look(part, known)

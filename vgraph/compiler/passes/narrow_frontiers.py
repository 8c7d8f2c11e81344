"""`narrow-frontiers`: where the vertices that an apply changes go to a filter and nowhere else, the apply may leave out
those that the filter would drop. Each update looks at its result; the last one of a round sees the final value.

before: `nearer = edge_apply(leave, peeled); peeled = vertex_apply(peel, nearer)`
after:  `nearer = edge_apply(leave, peeled) for peel; peeled = vertex_apply(peel, nearer)`
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import effects
from vgraph.compiler.analysis.guards import parts
from vgraph.compiler.ir.node import fields_of
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.types import VID, Scalar

_PURE = (ir.Compare, ir.Binary, ir.Unary, ir.Cast, ir.Const, ir.GlobalVar, ir.Load, ir.Var)


def needed(program: ir.Program, update: ir.Operator, chosen: ir.Operator, dst: str) -> ir.Expr | None:
    """What must hold at `dst` behind its update for the filter `chosen` to keep it; None if nothing can be said.

    It reads one number of the vertex, which `update` changes there and nowhere else, and what stays during the round.
    """
    kept = _kept(chosen)
    changes = [n for n in ir.walk(update) if any("WrittenName" in f.type for f in fields_of(type(n)))]
    there = all(isinstance(n, ir.Reduce) and _at(n.index, update.args[2]) for n in changes)
    changed = effects(update).written
    if kept is None or not there or len(changed) != 1:
        return None
    (prop,) = changed
    if not isinstance(program.property(prop).type, Scalar):
        return None
    reduced = {n.name for n in ir.walk(update) if isinstance(n, ir.ReduceGlobal)}
    for part in parts(kept):
        nodes = list(ir.walk(part))
        loads = [n for n in nodes if isinstance(n, ir.Load)]
        fixed = not any(isinstance(n, ir.GlobalVar) and n.name in reduced for n in nodes)
        own = loads and all(n.prop == prop and _at(n.index, chosen.args[0]) for n in loads)
        if own and fixed and all(isinstance(n, _PURE) for n in nodes):
            return ir.substitute(part, {chosen.args[0]: ir.Var(dst, VID)})
    return None


def _at(index: ir.Expr, vertex: str) -> bool:
    return isinstance(index, ir.Var) and index.name == vertex


def _kept(chosen: ir.Operator) -> ir.Expr | None:
    """The condition without which a filter neither keeps its vertex nor does anything."""
    if any(isinstance(n, ir.Assign | ir.Accumulate) for n in ir.walk(chosen)):
        return None
    values: dict[str, ir.Expr] = {}
    *body, last = chosen.body
    assert isinstance(last, ir.Emit)
    for s in body:
        match s:
            case ir.Let(name=name, value=value):
                values[name] = ir.substitute(value, values)
            case ir.If(condition=c, other=()) if c == last.value:
                pass
            case _:
                return None
    return ir.substitute(last.value, values)


def _run(program: ir.Program, context: Context) -> ir.Program:
    named = Counter(name for top in program.body for n in ir.walk(top) for name in ir.frontiers_of(n))
    pairs: dict[str, list[tuple[ir.EdgeApply, ir.VertexApply]]] = {}
    for body in ir.bodies(program.body):
        for a, b in pairwise(body):
            match a, b:
                case ir.EdgeApply(out=str(name)), ir.VertexApply(frontier=given) if name == given:
                    pairs.setdefault(name, []).append((a, b))
    narrowed: dict[int, str] = {}
    for name, found in pairs.items():
        alone = named[name] == 2 * len(found) and all(b.out and b.out != name for _, b in found)
        for a, b in found if alone else ():
            update, chosen = program.operator(a.op), program.operator(b.op)
            if needed(program, update, chosen, "dst") is not None:
                narrowed[id(a)] = b.op

    def rule(n: ir.Node) -> ir.Node | None:
        return ir.with_fields(n, {"only": narrowed[id(n)]}) if id(n) in narrowed else None

    return ir.with_fields(program, {"body": ir.transform_body(program.body, rule)}) if narrowed else program


narrow_frontiers = Pass("narrow-frontiers", _run, takes=ir.Level.ALGORITHM, gives=ir.Level.ALGORITHM)

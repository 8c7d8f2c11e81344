"""`insert-barriers`: no thread may change what another still has to read in the driver loop.

Parallel loops, `single` and collectives end with a barrier but have none at their start. Where the driver loop reads
shared memory (an element, the size of a frontier) and something writes the same before the next barrier, one is added.
Sizes are no such memory where a device keeps them for each block (`Abilities.own_sizes`).
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.ir.rewrite import Context, Pass

_JOINING = (
    ir.ParFor, ir.Pipeline, ir.Single, ir.FrontierClear, ir.FrontierSwap, ir.FrontierConvert, ir.FrontierCopy,
    ir.FrontierSet, ir.ListAppend, ir.ListClear, ir.ListGet, ir.Fold, ir.BucketsClear, ir.BucketAdvance, ir.BucketLoop,
    ir.AllToAll, ir.Take,
)  # fmt: skip


def _reads(node: ir.Node) -> set[str]:
    """The shared things that an expression of the driver loop reads."""
    found: set[str] = set()
    for n in ir.walk(node):
        match n:
            case ir.Load(prop=name):
                found.add(f"property {name}")
            case ir.FrontierSize(frontier=name):
                found.add(f"frontier {name}")
            case ir.ListSize(list=name):
                found.add(f"list {name}")
    return found


def _writes(statement: ir.Stmt) -> set[str]:
    """The shared things that a statement all threads enter together may change."""
    found: set[str] = set()
    for n in ir.walk(statement):
        match n:
            case (
                ir.Store(prop=name)
                | ir.Reduce(prop=name)
                | ir.CompareAndSwap(prop=name)
                | ir.Reserve(prop=name)
                | ir.Fold(prop=name)
            ):
                found.add(f"property {name}")
            case ir.Take(got=name):
                found.add(f"property {name}")
            case ir.AllToAll(gots=names):
                found |= {f"property {name}" for name in names}
            case ir.FrontierPush(frontier=a) | ir.FrontierClear(frontier=a) | ir.FrontierConvert(frontier=a):
                found.add(f"frontier {a}")
            case ir.FrontierSwap(left=a, right=b):
                found |= {f"frontier {a}", f"frontier {b}"}
            case ir.FrontierCopy(out=a) | ir.FrontierSet(out=a) | ir.ListGet(out=a):
                found.add(f"frontier {a}")
            case ir.ListAppend(list=a) | ir.ListClear(list=a):
                found.add(f"list {a}")
    return found


def _place(body: ir.Body, pending: set[str], jumped: set[str], own_sizes: bool) -> tuple[ir.Body, set[str]]:
    """The body with barriers, given what may have been read since the last one; and the same for its end.

    `jumped` collects what may have been read where a `break` or `continue` leaves the body.
    """

    def reads(node: ir.Node) -> set[str]:
        return {x for x in _reads(node) if not own_sizes or x.startswith("property")}

    result: list[ir.Stmt] = []
    for statement in body:
        match statement:
            case ir.If(condition=c, then=then, other=other):
                pending = pending | reads(c)
                then, after_then = _place(then, pending, jumped, own_sizes)
                other, after_other = _place(other, pending, jumped, own_sizes)
                result.append(ir.with_fields(statement, {"then": then, "other": other}))
                pending = after_then | after_other
            case ir.While(body=inner) | ir.For(body=inner):
                heads = [c for c in ir.children(statement) if c not in inner]
                for head in heads:
                    pending = pending | reads(head)
                left: set[str] = set()
                _, after = _place(inner, pending, left, own_sizes)
                again = pending | after | left | {r for h in heads for r in reads(h)}
                inner, after = _place(inner, again, left, own_sizes)
                result.append(ir.with_fields(statement, {"body": inner}))
                pending = pending | after | left
            case ir.Break() | ir.Continue():
                jumped |= pending
                result.append(statement)
            case ir.Alone(body=inner):
                if pending & _writes(statement):
                    result.append(ir.Barrier(span=statement.span))
                inner, _ = _place(inner, set(), set(), own_sizes)
                result.append(ir.with_fields(statement, {"body": inner}))
                pending = set()
            case ir.Trace():
                result.append(statement)
            case _ if isinstance(statement, _JOINING):
                if pending & _writes(statement):
                    result.append(ir.Barrier(span=statement.span))
                result.append(statement)
                pending = set()
            case _:
                pending = pending | reads(statement)
                result.append(statement)
    return tuple(result), pending


def _run(program: ir.Program, context: Context) -> ir.Program:
    if context.threads == 1:
        return program
    body, _ = _place(program.body, set(), set(), context.abilities.own_sizes)
    return ir.with_fields(program, {"body": body})


insert_barriers = Pass("insert-barriers", _run, takes=ir.Level.KERNEL, gives=ir.Level.KERNEL)

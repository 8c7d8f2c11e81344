"""`insert-barriers`: no thread may change what another still has to read in the driver loop.

Parallel loops, `single` and collectives end with a barrier but have none at their start. Where the driver loop reads
shared memory (an element, the size of a frontier) and something writes the same before the next barrier, one is added.
"""

from __future__ import annotations

from vgraph.compiler.ir import (
    Alone,
    Barrier,
    Body,
    Break,
    BucketAdvance,
    BucketLoop,
    BucketsClear,
    CompareAndSwap,
    Continue,
    Fold,
    For,
    FrontierClear,
    FrontierConvert,
    FrontierCopy,
    FrontierPush,
    FrontierSet,
    FrontierSize,
    FrontierSwap,
    If,
    Level,
    ListAppend,
    ListClear,
    ListGet,
    ListSize,
    Load,
    Node,
    ParFor,
    Pipeline,
    Program,
    Reduce,
    Single,
    Stmt,
    Store,
    Trace,
    While,
)
from vgraph.compiler.rewrite import Context, Pass, children, walk, with_fields

_JOINING = (
    ParFor, Pipeline, Single, FrontierClear, FrontierSwap, FrontierConvert, FrontierCopy, FrontierSet,
    ListAppend, ListClear, ListGet, Fold, BucketsClear, BucketAdvance, BucketLoop,
)  # fmt: skip


def _reads(node: Node) -> set[str]:
    """The shared things that an expression of the driver loop reads."""
    found: set[str] = set()
    for n in walk(node):
        match n:
            case Load(prop=name):
                found.add(f"property {name}")
            case FrontierSize(frontier=name):
                found.add(f"frontier {name}")
            case ListSize(list=name):
                found.add(f"list {name}")
    return found


def _writes(statement: Stmt) -> set[str]:
    """The shared things that a statement all threads enter together may change."""
    found: set[str] = set()
    for n in walk(statement):
        match n:
            case Store(prop=name) | Reduce(prop=name) | CompareAndSwap(prop=name) | Fold(prop=name):
                found.add(f"property {name}")
            case FrontierPush(frontier=a) | FrontierClear(frontier=a) | FrontierConvert(frontier=a):
                found.add(f"frontier {a}")
            case FrontierSwap(left=a, right=b):
                found |= {f"frontier {a}", f"frontier {b}"}
            case FrontierCopy(out=a) | FrontierSet(out=a) | ListGet(out=a):
                found.add(f"frontier {a}")
            case ListAppend(list=a) | ListClear(list=a):
                found.add(f"list {a}")
    return found


def _place(body: Body, pending: set[str], jumped: set[str]) -> tuple[Body, set[str]]:
    """The body with barriers, given what may have been read since the last one; and the same for its end.

    `jumped` collects what may have been read where a `break` or `continue` leaves the body.
    """
    result: list[Stmt] = []
    for statement in body:
        match statement:
            case If(condition=c, then=then, other=other):
                pending = pending | _reads(c)
                then, after_then = _place(then, pending, jumped)
                other, after_other = _place(other, pending, jumped)
                result.append(with_fields(statement, {"then": then, "other": other}))
                pending = after_then | after_other
            case While(body=inner) | For(body=inner):
                heads = [c for c in children(statement) if c not in inner]
                for head in heads:
                    pending = pending | _reads(head)
                left: set[str] = set()
                _, after = _place(inner, pending, left)
                again = pending | after | left | {r for h in heads for r in _reads(h)}
                inner, after = _place(inner, again, left)
                result.append(with_fields(statement, {"body": inner}))
                pending = pending | after | left
            case Break() | Continue():
                jumped |= pending
                result.append(statement)
            case Alone(body=inner):
                if pending & _writes(statement):
                    result.append(Barrier(span=statement.span))
                inner, _ = _place(inner, set(), set())
                result.append(with_fields(statement, {"body": inner}))
                pending = set()
            case Trace():
                result.append(statement)
            case _ if isinstance(statement, _JOINING):
                if pending & _writes(statement):
                    result.append(Barrier(span=statement.span))
                result.append(statement)
                pending = set()
            case _:
                pending = pending | _reads(statement)
                result.append(statement)
    return tuple(result), pending


def _run(program: Program, context: Context) -> Program:
    if context.threads == 1:
        return program
    body, _ = _place(program.body, set(), set())
    return with_fields(program, {"body": body})


insert_barriers = Pass("insert-barriers", _run, takes=Level.KERNEL, gives=Level.KERNEL)

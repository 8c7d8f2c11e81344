"""Lists of frontiers. What is taken out of one stays where it is, where nobody changes it: a view."""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.backends.cuda import crew
from vgraph.compiler.backends.cuda.emitter import Emitter
from vgraph.compiler.backends.scan import has_collective, walk_body
from vgraph.compiler.ir.trees import children, frontiers_of, walk

_READS: Final = (ir.SparseMembers, ir.FrontierSize, ir.FrontierConvert, ir.ListAppend)


def views(program: ir.Program) -> frozenset[str]:
    """Frontiers that nothing but lists fill, that are queues all the time, and that nobody reads after their list was
    emptied: so their ids may stay in the list."""
    sources: dict[str, set[str]] = {}
    changed: set[str] = set()
    for node in walk_body(program.body):
        if isinstance(node, ir.ListGet):
            sources.setdefault(node.out, set()).add(node.list)
        elif not isinstance(node, _READS) or getattr(node, "layout", None) is ir.Layout.BITMAP:
            changed.update(frontiers_of(node))
    return frozenset(
        name
        for name, lists in sources.items()
        if name not in changed and _outlived(program.body, name, lists, False)[0]
    )


def _outlived(body: ir.Body, name: str, lists: set[str], stale: bool) -> tuple[bool, bool]:
    """Whether no statement reads the frontier after one of the lists was emptied.

    `stale`: whether one may have been emptied before the body; the second of the result, whether behind it.
    """
    kept = True
    for statement in body:
        match statement:
            case ir.ListGet(out=out) if out == name:
                stale = False
            case ir.ListClear(list=cleared) if cleared in lists:
                stale = True
            case ir.If(condition=c, then=then, other=other):
                ends = [_outlived(side, name, lists, stale) for side in (then, other)]
                kept = kept and not (stale and _reads(c, name)) and all(k for k, _ in ends)
                stale = any(s for _, s in ends)
            case ir.While(body=inner) | ir.For(body=inner):
                emptied = any(isinstance(n, ir.ListClear) and n.list in lists for n in walk_body(inner))
                stale = stale or emptied
                heads = (c for c in children(statement) if c not in inner)
                kept = kept and not (stale and any(_reads(h, name) for h in heads))
                kept = kept and _outlived(inner, name, lists, stale)[0]
            case _:
                kept = kept and not (stale and _reads(statement, name))
    return kept, stale


def _reads(node: ir.Node, name: str) -> bool:
    return any(name in frontiers_of(n) for n in walk(node))


# --- statements ----------------------------------------------------------------------------------------------------


def _list(f: Emitter, name: str) -> str:
    return f.names.of("list", name)


def emit_clear(f: Emitter, node: ir.ListClear) -> None:
    """`clear levels`."""
    f.stops(f"clear_list(team, {_list(f, node.list)})")


def emit_append(f: Emitter, node: ir.ListAppend) -> None:
    """`append levels f`; the barrier behind it may be that of a parallel loop which follows."""
    number = [x.name for x in f.program.lists].index(node.list)
    n, met = f.num_vertices, "false" if _loop_follows(f.rest, node.frontier) else "true"
    f.stops(f"append<{met}>(team, {_list(f, node.list)}, {number}, {f.frontier(node.frontier)}, {n})")


def _loop_follows(rest: ir.Body, frontier: str) -> bool:
    """Whether all threads come to the end of a parallel loop before anything is done to the frontier or the list."""
    for stmt in rest:
        if isinstance(stmt, ir.ParFor):
            return not any(isinstance(n, ir.FrontierPush) and n.frontier == frontier for n in walk(stmt))
        if has_collective((stmt,)) or isinstance(stmt, ir.If | ir.While | ir.For):
            return False
    return False


def emit_get(f: Emitter, node: ir.ListGet) -> None:
    """`f = levels[i]`."""
    out, source, index = f.frontier(node.out), _list(f, node.list), f.expr(node.index)
    if node.out in f.views:
        if f.crew:
            crew.view(f, node, out, source, index)
        else:
            f.line(f"view(team, {out}, {source}, {index});")
    else:
        f.stops(f"get(team, {out}, {source}, {index})")

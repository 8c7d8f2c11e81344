"""Kernels that a crew runs, one cluster of blocks: programs whose time goes into many small rounds.

Hardware makes the barrier of a cluster. What is left of a round are loads that wait for each other, so threads ask for
what will be read soon: it comes while others are waited for, or at the barrier.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.lanes import side_of
from vgraph.compiler.backends.cuda.emitter import Emitter
from vgraph.compiler.backends.scan import walk_body
from vgraph.compiler.ir.trees import bodies, walk
from vgraph.compiler.types import F64, I64

_LOOPS: Final = (ir.While, ir.For)
_OTHERS: Final = (ir.BucketLoop, ir.Pipeline, ir.AllToAll, ir.ScratchClear, ir.Slices)
"""What is for all blocks of a GPU, or for few threads."""


def suits(program: ir.Program) -> bool:
    """Whether the rounds of a program walk queues that grow from one vertex, level after level.

    What its innermost loops visit is what counts: loops over all vertices may stand around those, and then take longer
    than on all of the GPU. Where blocks go on alone with what they find, they need no barrier.
    """
    nodes = list(walk_body(program.body))
    if any(isinstance(n, _OTHERS) or getattr(n, "hops", 1) > 1 for n in nodes):
        return False
    rounds = [x for n in nodes if isinstance(n, _LOOPS) and (x := _visits(n)) and not _loops_inside(n)]
    wide = _wide(nodes)
    return bool(rounds) and all(_queue(p) not in wide and not _comes_back(p) for x in rounds for p in x)


def _visits(loop: ir.While | ir.For) -> list[ir.Stmt]:
    """The collective work of a driver loop."""
    return [n for n in walk_body(loop.body) if isinstance(n, ir.ParFor | ir.Fill)]


def _loops_inside(loop: ir.While | ir.For) -> bool:
    return any(isinstance(n, _LOOPS) and _visits(n) for s in loop.body for n in walk(s))


def _queue(p: ir.Node) -> str:
    """The frontier whose queue a loop walks; empty for anything else."""
    return p.domain.frontier if isinstance(p, ir.ParFor) and isinstance(p.domain, ir.SparseMembers) else ""


def _comes_back(p: ir.Node) -> bool:
    """Whether a loop pushes vertices whose values may fall again and again: frontiers are wide even in a plane then."""
    nodes = list(walk(p))
    extremes = any(isinstance(n, ir.Reduce) and n.op != "+" for n in nodes)
    return extremes and any(isinstance(n, ir.FrontierPush) for n in nodes)


def _wide(nodes: Iterable[ir.Node]) -> set[str]:
    """Frontiers that may have many vertices from the start, with their lists; and what is no queue, ""."""
    wide, flows = {""}, list[tuple[str, str]]()
    for n in nodes:
        match n:
            case ir.FrontierSet(out=out, kind=ir.FrontierKind.ALL):
                wide.add(out)
            case ir.ParFor():
                pushes = (x.frontier for x in walk_body(n.body) if isinstance(x, ir.FrontierPush))
                flows += [(_queue(n), out) for out in pushes]
            case ir.FrontierCopy(source=source, out=out):
                flows.append((source, out))
            case ir.FrontierSwap(left=left, right=right):
                flows += [(left, right), (right, left)]
            case ir.ListAppend(list=listed, frontier=frontier):
                flows.append((frontier, listed))
            case ir.ListGet(list=listed, out=out):
                flows.append((listed, out))
    while new := {out for source, out in flows if source in wide} - wide:
        wide |= new
    return wide


def recorded(program: ir.Program) -> frozenset[str]:
    """Sums that nothing but the record behind their loop reads: they need not be known when it is over."""
    nodes = list(walk_body(program.body))
    traces = Counter(
        n.edges.name for n in nodes if isinstance(n, ir.Trace) and isinstance(n.edges, ir.GlobalVar)
    )
    reads = Counter(n.name for n in nodes if isinstance(n, ir.GlobalVar))
    lost = {n.name for n in nodes if isinstance(n, ir.SetGlobal) and n.value != ir.Const(0, I64)}
    for body in bodies(program.body):
        for s, then in zip(body, (*body[1:], None), strict=False):
            if isinstance(s, ir.ParFor | ir.Single):
                behind = then.edges if isinstance(then, ir.Trace) else None
                sums = {n.name for n in walk(s) if isinstance(n, ir.ReduceGlobal)}
                lost |= sums - ({behind.name} if isinstance(behind, ir.GlobalVar) else set())
    return frozenset(name for name in traces if reads[name] == traces[name] and name not in lost)


def only_recorded(f: Emitter, edges: ir.Expr) -> bool:
    """Whether the arcs of a record are added to it as they are counted."""
    return isinstance(edges, ir.GlobalVar) and edges.name in f.recorded


# --- what will be read soon ----------------------------------------------------------------------------------------


def far_end(f: Emitter, node: ir.ForNeighbors) -> None:
    """Behind an arc that leads to a vertex: ask for what is touched there once something else is known, and for where
    its own arcs are if it may be visited next."""
    u, asked = f.local(node.vertex), list[str]()
    later = [n for s in node.body for n in ((*s.then, *s.other) if isinstance(s, ir.If) else ())]
    later += [s for s in node.body if isinstance(s, ir.Reduce)]
    for n in walk_body(tuple(later)):
        if (name := _touched(n, node.vertex)) is not None:
            asked.append(f"&{f.prop(name)}[{u}]")
        if isinstance(n, ir.FrontierPush) and n.dedupe and _is(n.vertex, node.vertex):
            asked.append(f"&{f.frontier(n.frontier)}.flags[{u}]")
            row, side = f.temporary(f"{node.vertex} row"), node.orientation.value
            f.line(f"auto {row} = row_of({f.array(f'{side}.row_offsets')}, {u});")
            f.soon[node.vertex] = row, f.array(f"{side}.column_indices")
    if len(asked) > 1:
        f.line(f"warm({', '.join(dict.fromkeys(asked))});")


def pushed(f: Emitter, vertex: ir.Expr) -> None:
    """Ask for the arcs of what was pushed."""
    if isinstance(vertex, ir.Var) and vertex.name in f.soon:
        row, columns = f.soon[vertex.name]
        f.line(f"if ({row}.begin < {row}.end) warm({columns} + {row}.begin);")


def adds_in_memory(f: Emitter, node: ir.Reduce) -> bool:
    """Whether a thread had better leave an addition at its own vertex to the memory than wait for what is there."""
    region = f.region
    known = node.changed or (region is not None and node.prop in region.read)
    return f.crew and node.op == "+" and node.value.type == F64 and not known


def early_loop(node: ir.ParFor, rest: ir.Body) -> ir.ParFor | None:
    """The loop behind one over the same queue: its first vertices may be looked up before the barrier between them."""
    for s in rest:
        match s:
            case ir.ParFor():
                same = isinstance(s.domain, ir.SparseMembers) and s.domain == node.domain
                few = s.limit is None and s.lanes is not ir.Lanes.THREAD
                return s if same and few else None
            case ir.Trace() | ir.Let() | ir.Assign() | ir.SetGlobal() | ir.ListAppend():
                continue
            case ir.If(then=(ir.Fail(),), other=()):
                continue
        return None
    return None


def look_up(f: Emitter, ahead: ir.ParFor, domain: str) -> None:
    """Rows of its first vertices."""
    side = side_of(ahead)
    assert side is not None
    f.line(f"{f.early[id(ahead)]} = first_few({domain}, {f.array(f'{side.value}.row_offsets')});")


def view(f: Emitter, node: ir.ListGet, out: str, listed: str, index: str) -> None:
    """`f = levels[i]`. Threads with nothing else to do ask for what loops will read of the frontier before this one."""
    f.line(f"view_down(team, {out}, {listed}, {index}, {f.names.of('soon', node.list)});")
    found = [n for n in walk_body(f.rest) if isinstance(n, ir.ParFor) and _queue(n) == node.out]
    names = [_touched(n, p.vertex) for p in found for n in walk_body(p.body)]
    own = "".join(f", {f.prop(name)}" for name in dict.fromkeys(names) if name is not None)
    for side in dict.fromkeys(side_of(p) for p in found):
        if side is not None:
            rows, columns = (f.array(f"{side.value}.{x}") for x in ("row_offsets", "column_indices"))
            f.line(f"look_ahead({listed}, {rows}, {columns}{own});")


def _touched(n: ir.Node, vertex: str) -> str | None:
    """The property that is read or written at a vertex."""
    if isinstance(n, ir.Load | ir.Store | ir.Reduce | ir.CompareAndSwap) and _is(n.index, vertex):
        return n.prop
    return None


def _is(e: ir.Expr, vertex: str) -> bool:
    return isinstance(e, ir.Var) and e.name == vertex

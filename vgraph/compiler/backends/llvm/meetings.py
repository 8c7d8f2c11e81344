"""Which statements of a team's driver loop meet in one barrier.

A barrier has a middle, where the first thread is alone with what all have done (`parallel.held`). So what stands behind
a loop and is for one thread needs no barrier of its own: records of rounds, exchanged frontiers, what `single` does.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.backends.llvm import frontiers
from vgraph.compiler.backends.llvm.emitter import Emitter
from vgraph.compiler.backends.llvm.parallel import once
from vgraph.compiler.backends.scan import reductions, walk_body

_MEETING: Final = (ir.ParFor, ir.BucketLoop, ir.Pipeline, ir.Single)
"""What ends in one barrier, where partials are folded (`parallel.combine_partials`)."""


def emit(f: Emitter, node: ir.Stmt, rest: ir.Body) -> int:
    """Emit a statement, and of those behind it what meets in the same barrier; how many these are with it."""
    match node, rest:
        case ir.Barrier(), (ir.ListGet() as get, *_):
            frontiers.list_get_at_barrier(f, get)
            return 2
        case ir.ListAppend(), _ if _met_later(f, node, rest):
            with once(f):
                f.single = True
                f.table[type(node)](f, node)
                f.single = False
            return 1
    f.following, f.done_early = _for_one_thread(f, rest) if isinstance(node, _MEETING) else (), 0
    f.table[type(node)](f, node)
    f.following = ()
    return 1 + (f.done_early if isinstance(node, _MEETING) else 0)


def _for_one_thread(f: Emitter, body: ir.Body) -> ir.Body:
    """The statements at the start of `body` that the first thread does alone, in no time."""

    def quick(n: ir.Stmt) -> bool:
        match n:
            case ir.Trace() | ir.FrontierSwap() | ir.ListClear():
                return True
            case ir.FrontierClear(layout=layout):
                return layout is ir.Layout.SPARSE
            case ir.ListAppend(frontier=name):
                return ir.Layout.BITMAP not in f.scan.layouts[name]
            case ir.Single(body=inner):
                loops = any(isinstance(x, ir.While | ir.For) for x in walk_body(inner))
                return not reductions(inner) and not loops
        return False

    return tuple(takewhile(quick, body))


def _met_later(f: Emitter, node: ir.ListAppend, rest: ir.Body) -> bool:
    """Whether others may go on while the first thread does `node`: nobody minds before a loop in `rest` has ended."""
    if not _for_one_thread(f, (node,)):
        return False
    for n in rest:
        match n:
            case ir.SetGlobal() | ir.Let() | ir.Assign():
                if any(isinstance(x, ir.ListSize) for x in ir.walk(n)):
                    return False
            case ir.ParFor(cut=None):
                return not any(
                    isinstance(x, ir.FrontierPush) and x.frontier == node.frontier for x in ir.walk(n)
                )
            case _:
                return False
    return False

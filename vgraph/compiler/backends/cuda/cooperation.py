"""Which loops over arcs the lanes of a group can share, while everything around is done by the group as one.

`for (u, e) in in(v) { sum += rank[u] }` adds up in each lane and combines behind the loop. What cannot be shared so
runs with every lane on a piece of its own, if the loop is cut into pieces at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from vgraph.compiler import ir
from vgraph.compiler.backends.scan import walk_body
from vgraph.compiler.types import Type

Sums = dict[str, tuple[str, Type | None]]
"""Locals that a loop's arcs combine: the operation, and the type if lanes but the first begin with the identity."""


def own_arcs(node: ir.ForNeighbors, vertex: str, side: ir.Orientation | None) -> bool:
    """Whether this is a loop over the arcs that the visit of `vertex` is about."""
    return isinstance(node.of, ir.Var) and node.of.name == vertex and node.orientation is side


def loops_over_arcs(body: ir.Body) -> Iterator[ir.ForNeighbors]:
    """The loops over arcs in `body` that are in no other loop."""
    for stmt in body:
        if isinstance(stmt, ir.ForNeighbors):
            yield stmt
        elif isinstance(stmt, ir.If):
            yield from loops_over_arcs(stmt.then)
            yield from loops_over_arcs(stmt.other)


def side_of(loop: ir.ParFor | ir.BucketLoop) -> ir.Orientation | None:
    """The side whose arcs the lanes of a group would share: that of the cut, or of the first loop over arcs."""
    if loop.cut is not None:
        return loop.cut
    for node in loops_over_arcs(loop.body):
        if isinstance(node.of, ir.Var) and node.of.name == loop.vertex:
            return node.orientation
    return None


def shared_loops(loop: ir.ParFor | ir.BucketLoop) -> frozenset[int]:
    """Identities of the loops over its vertex's arcs that lanes can share; empty if one of them cannot be."""
    side = side_of(loop)
    own = [
        n for n in walk_body(loop.body) if isinstance(n, ir.ForNeighbors) and own_arcs(n, loop.vertex, side)
    ]
    outermost = {id(n) for n in loops_over_arcs(loop.body)}
    scratch = any(
        isinstance(n, ir.ScratchStore | ir.ScratchLoad | ir.ScratchClear) for n in walk_body(loop.body)
    )
    if not own or scratch or any(id(n) not in outermost or n.segments > 1 for n in own):
        return frozenset()
    if any(carried(n) is None or _writes_own(n, loop.vertex) for n in own):
        return frozenset()
    return frozenset(id(n) for n in own)


def carried(loop: ir.ForNeighbors) -> Sums | None:
    """What the loop adds up in locals declared before it; None if something else is carried from arc to arc."""
    inside = list(walk_body(loop.body))
    declared = {n.name for n in inside if isinstance(n, ir.Let | ir.For)} | {loop.vertex, loop.edge}
    declared |= {n.vertex for n in inside if isinstance(n, ir.ForNeighbors | ir.ForCommon)}
    declared |= {n.edge for n in inside if isinstance(n, ir.ForNeighbors)}
    found: Sums = {}
    reads = 0
    for n in inside:
        change = _change(n)
        if change is not None and change[0] not in declared:
            name, op, t = change
            if op is None or found.setdefault(name, (op, t)) != (op, t):
                return None
            if isinstance(n, ir.Assign) and t is not None:
                reads += 1  # the read in `x = x + e`
    uses = sum(isinstance(n, ir.Var) and n.name in found for n in inside)
    return None if uses > reads or _leaves(loop.body) else found


def _change(n: ir.Node) -> tuple[str, str | None, Type | None] | None:
    """The local that a statement changes: its name, how it is combined, and the type of a sum."""
    match n:
        case ir.Accumulate(op=op, name=name, value=value):
            return name, op, value.type
        case ir.Assign(name=name, value=ir.Const(value=value)) if isinstance(value, bool):
            return name, "|" if value else "&", None
        case ir.Assign(name=name, value=ir.Binary("+", ir.Var(same), e)) if same == name:
            return name, "+", e.type
        case ir.Assign(name=name):
            return name, None, None
        case ir.Reduce(changed=str(name)):
            return name, "|", None
        case ir.CompareAndSwap(ok=name):
            return name, None, None
    return None


def _leaves(body: ir.Body) -> bool:
    """Whether a `break` or `continue` of the loop itself stands in its body."""
    for stmt in body:
        if isinstance(stmt, ir.Break):
            return True
        if isinstance(stmt, ir.If) and (_leaves(stmt.then) or _leaves(stmt.other)):
            return True
    return False


def _writes_own(loop: ir.ForNeighbors, vertex: str) -> bool:
    """Whether its body writes plainly at the vertex itself, once per arc."""
    for n in walk_body(loop.body):
        if isinstance(n, ir.Store | ir.Reduce | ir.CompareAndSwap):
            plain = isinstance(n, ir.Store) or not n.atomic
            if plain and isinstance(n.index, ir.Var) and n.index.name == vertex:
                return True
    return False

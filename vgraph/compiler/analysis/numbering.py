"""Whether a program could tell how the vertices are numbered.

If it cannot, it may run on a graph whose vertices were put into another order: its results, put back, are results
that it might have had. The check is by form, and on the safe side. Whether a run can change from one order to another
on its way is asked of the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vgraph.compiler import ir
from vgraph.compiler.obstacle import Obstacle
from vgraph.compiler.types import EID, VID, Type, element_of
from vgraph.source import Span

_LOOPS = (ir.ForNeighbors, ir.ForCommon, ir.For, ir.While)


def numbering_obstacle(program: ir.Program) -> Obstacle | None:
    """Where the results of `program` depend on the numbers of vertices, or on the order that they give neighbors."""
    gathers = next((n for n in ir.walk(program) if isinstance(n, ir.Acquire)), None)
    if gathers is not None:
        return Obstacle("visits that gather vertices may come in the order of their numbers", gathers.span)
    for n in ir.walk(program):
        reason = _looks_at_number(n)
        if reason is not None:
            return Obstacle(reason, n.span)
        if isinstance(n, ir.ForNeighbors | ir.ForCommon):
            found = _depends_on_order(n)
            if found is not None:
                return found
    return None


def check_numbering(program: ir.Program) -> None:
    """Raise NumberingMatters if `program` may not run on a graph in another order of vertices."""
    from vgraph.refusals.schedules import NumberingMatters

    found = numbering_obstacle(program)
    if found is not None:
        raise NumberingMatters(_line(found, program), program.name, found.reason)


_SITES = (ir.Site.VERTEX, ir.Site.ARRAY, ir.Site.QUEUE, ir.Site.THREAD)


def moving_obstacle(kernel: ir.Program) -> Obstacle | None:
    """What of a run cannot be put into another order of vertices between two of its loops: at vertices, in tables and
    in frontiers all can; not what stands at arcs, arcs themselves, and queues by priority."""
    for n in _outside(ir.ParFor, ir.children(kernel)):
        match n:
            case ir.BucketsDecl():
                return Obstacle("vertices wait in buckets by priority")
            case ir.Pipeline():
                return Obstacle("two phases pass on what stands at arcs", n.span)
            case ir.Property(origin=ir.Origin.LOCAL | ir.Origin.PARAM) if n.site not in _SITES:
                return Obstacle(f"`{n.name}` has an element for each edge", n.span)
            case ir.Property(type=of) | ir.Global(type=of) if element_of(of) == EID:
                return Obstacle(f"`{n.name}` holds edges", n.span)
            case ir.Let() if n.value.type == EID:
                return Obstacle(f"`{n.name}` holds an edge", n.span)
    return None


def check_moving(kernel: ir.Program) -> None:
    """Raise OrderStays if a run of `kernel` cannot go on in another order of vertices."""
    from vgraph.refusals.schedules import OrderStays

    found = moving_obstacle(kernel)
    if found is not None:
        raise OrderStays(_line(found, kernel), kernel.name, found.reason)


def _line(found: Obstacle, program: ir.Program) -> Span:
    """Of the obstacle, or the first that there is."""
    span = found.span or next((n.span for n in ir.walk(program) if n.span is not None), None)
    assert span is not None
    return span


def _is_number(t: Type) -> bool:
    return t in (VID, EID)


def _looks_at_number(n: ir.Node) -> str | None:
    """What in this one node depends on a vertex's number."""
    match n:
        case ir.Union():
            return "a disjoint set is named by its smallest vertex"
        case ir.Cast(to=to, operand=operand) if _is_number(to) != _is_number(operand.type):
            if (
                operand.type == EID
            ):  # of `edge.reverse` is asked whether it is there, and an edge has no number
                return None
            return "the number of a vertex is used as a value" if operand.type == VID else _MADE
        case ir.Const(value=value, type=t) if _is_number(t) and value != -1:
            return _MADE
        case ir.Compare(op=op, left=left) if _is_number(left.type) and op not in ("==", "!="):
            return "vertices are compared by their numbers"
        case ir.Binary() | ir.Reduce() | ir.ReduceGlobal() | ir.Accumulate() if _is_number(
            n.type if isinstance(n, ir.Binary) else n.value.type
        ):
            return "vertices are compared by their numbers"
        case ir.Pack() if any(_is_number(e.type) for e in n.items):
            return "vertices are compared by their numbers"
        case ir.Neighbor():
            return "neighbors are counted in the order of their numbers"
        case ir.ScratchLoad() | ir.ScratchStore():
            return "scratch memory is filled in the order of the neighbors' numbers"
    return None


_MADE = "a vertex is made from a number"


def _depends_on_order(loop: ir.ForNeighbors | ir.ForCommon) -> Obstacle | None:
    """What a loop over neighbors carries from one to the next, other than sums."""
    inside = [n for s in loop.body for n in ir.walk(s)]
    declared = {n.name for n in inside if isinstance(n, ir.Let | ir.For)}
    sums = {n.name for n in inside if isinstance(n, ir.Accumulate)} - declared
    for n in inside:
        if isinstance(n, ir.Assign) and n.name not in declared:
            return Obstacle(f"`{n.name}` is carried from neighbor to neighbor", n.span)
        if isinstance(n, ir.Var) and n.name in sums:
            return Obstacle(f"`{n.name}` is read while neighbors add to it", n.span)
    for n in _outside(ir.Claim, loop.body):
        if isinstance(n, ir.Store) and n.index.type != EID:
            own = any(isinstance(m, ir.Load) and m.prop == n.prop for m in ir.walk(n.value))
            how = (
                "carried from neighbor to neighbor"
                if own
                else "stored for every neighbor: the last one stays"
            )
            return Obstacle(f"`{n.prop}` is {how}", n.span)
    for n in _own_jumps(loop.body):
        return Obstacle("it leaves the loop over the neighbors early", n.span)
    return None


def _outside(kind: type[ir.Node], nodes: Iterable[ir.Node]) -> Iterator[ir.Node]:
    """All nodes but those inside one of a kind, such as what a claim guards."""
    for n in nodes:
        yield n
        if not isinstance(n, kind):
            yield from _outside(kind, ir.children(n))


def _own_jumps(nodes: Iterable[ir.Node]) -> Iterator[ir.Node]:
    """Breaks that leave the loop with this body."""
    for n in nodes:
        if isinstance(n, ir.Break):
            yield n
        elif not isinstance(n, _LOOPS):
            yield from _own_jumps(ir.children(n))

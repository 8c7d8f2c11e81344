"""Pulls whose sources' values lie in the memory that a block shares: what an arc needs of its source is one value.

That value is a property, or anything computed from properties of the source, its degree and what is equal for all: the
largest expression that depends on the source and on nothing else of the arc.
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.gathers import reductions_of, vector_obstacle
from vgraph.compiler.obstacle import Obstacle
from vgraph.compiler.types import EID, VID, Scalar, Target, element_of
from vgraph.graph.layouts.part_slices import PART_SLICES
from vgraph.graph.layouts.parts import PARTS
from vgraph.graph.layouts.segments import SEGMENTS
from vgraph.graph.layouts.sell import SELL
from vgraph.graph.layouts.slices import OUT_SLICES, SLICES
from vgraph.records import dataclass

OPERATIONS = ("+", "min", "max", "|", "&")
"""How a row's result may be combined with those of other rows of its destination."""


AT_DST = "it reads at dst, and on a GPU segments know only the source of an arc"


def slices_obstacle(operator: ir.Operator) -> Obstacle | None:
    """Why a pull cannot walk slices; None if it can."""
    src, *arc = operator.args
    for top in operator.body:
        for n in ir.walk(top):
            found = _unfit(n, arc[1])
            if found is not None:
                return found
    if not any(isinstance(n, ir.Reduce) for top in operator.body for n in ir.walk(top)):
        return Obstacle("it reduces nothing at dst", operator.span)
    values = source_values(operator.body, src, tuple(arc))
    if len(values) != 1:
        listed = f"{len(values)} values" if values else "nothing"
        reason = f"it reads {listed} of the source, and on a GPU segments keep one value of each"
        return Obstacle(reason, values[1].span if values else operator.span)
    if not isinstance(values[0].type, Scalar) or values[0].type.bits == 128:
        reason = f"what it reads of the source is {values[0].type}: a block keeps numbers of 4 or 8 bytes, and bools"
        return Obstacle(reason, values[0].span)
    return None


def side_by_side(operator: ir.Operator) -> bool:
    """Whether what each arc gives is computed for several destinations at a time: by numbers of the source, the arc and
    what is the same for all, without conditions."""
    src, edge, dst = operator.args
    if vector_obstacle(operator.body, src, edge) is not None:
        return False
    values = [value for _, value in reductions_of(operator.body) or ()]
    return not any(isinstance(n, ir.Var) and n.name == dst for value in values for n in ir.walk(value))


def _unfit(n: ir.Node, dst: str) -> Obstacle | None:
    """What stands in the way at one node."""
    match n:
        case ir.Reduce(index=ir.Var(name=name)) if name == dst and n.index.type != EID:
            if n.op not in OPERATIONS or not isinstance(n.value.type, Scalar) or n.value.type.bits == 128:
                return Obstacle(
                    f"`{n.op}=` of {n.value.type} is not combined by one atomic operation", n.span
                )
            return Obstacle(AT_DST, n.span) if _is(n.value, dst) else None
        case ir.If() | ir.Let():
            return None
        case ir.Stmt():
            return Obstacle("on a GPU segments only reduce numbers at dst", n.span)
        case ir.Expr() if any(_is(child, dst) for child in ir.children(n)):
            return Obstacle(AT_DST, n.span)
        case ir.HasNeighbor() | ir.Neighbor():
            return Obstacle("it looks at other neighbors", n.span)
    return None


def _is(n: ir.Node, vertex: str) -> bool:
    return isinstance(n, ir.Var) and n.name == vertex


def source_values(body: ir.Body, src: str, arc: tuple[str, ...]) -> list[ir.Expr]:
    """What the body needs of its source: the largest expressions of nothing that differs but `src`, each once; `arc`:
    names of its arc and of the destination."""
    differ = {name for top in body for n in ir.walk(top) for name in ir.written_locals(n)}
    found: dict[ir.Expr, None] = {}

    def visit(n: ir.Node) -> None:
        if isinstance(n, ir.Expr) and _of_source(n, src, arc, differ) and not _widened(n):
            found.setdefault(n)
            return
        for child in ir.children(n):
            visit(child)

    for top in body:
        visit(top)
    return list(found)


def _widened(e: ir.Expr) -> bool:
    """Whether a value has more bits than what it is made of: that is kept instead."""
    if not isinstance(e, ir.Cast) or VID in (e.type, e.operand.type):
        return False
    return (element_of(e.operand.type).bits or 0) < (element_of(e.type).bits or 0)


def _of_source(e: ir.Expr, src: str, arc: tuple[str, ...], differ: set[str]) -> bool:
    """Whether a value depends on the source and on nothing else that differs from arc to arc."""
    names = {n.name for n in ir.walk(e) if isinstance(n, ir.Var)}
    return src in names and not names & differ and not names & set(arc)


# --- kernel IR ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sliced:
    """A parallel loop over slices, taken apart: the loop over a row's arcs, what is done for each, where a
    frontier is named only for its members, and what is kept of each source."""

    arcs: ir.ForNeighbors
    body: ir.Body
    frontier: str
    value: ir.Expr

    def bits(self, target: Target) -> int:
        """How many bits a block keeps of each source: its value, and whether it takes part."""
        return target.width(element_of(self.value.type)) + bool(self.frontier)

    @property
    def names(self) -> tuple[str, str, str]:
        """The source, the arc and the destination."""
        assert isinstance(self.arcs.of, ir.Var)
        return self.arcs.vertex, self.arcs.edge, self.arcs.of.name

    def with_value(self, local: str) -> ir.Body:
        """The body with what is kept of the source in a local."""
        place = ir.Var(local, self.value.type)

        def replaced(n: ir.Node) -> ir.Node:
            return place if n == self.value else ir.map_children(n, replaced)

        return tuple(n for n in map(replaced, self.body) if isinstance(n, ir.Stmt))


def sliced(loop: ir.ParFor) -> Sliced:
    """A loop that was found fit for slices, at kernel level."""
    arcs = arcs_of(loop)
    match arcs.body:
        case (ir.If(ir.InFrontier(frontier, ir.Var(name)), then, ()),) if name == arcs.vertex:
            body: ir.Body = then
        case _:
            body, frontier = arcs.body, ""
    (value,) = source_values(body, arcs.vertex, (arcs.edge, loop.vertex))
    return Sliced(arcs, body, frontier, value)


def arcs_of(loop: ir.ParFor) -> ir.ForNeighbors:
    """The loop over arcs of a segment, or of a plan, in a parallel loop over such."""
    inside = (n for s in loop.body for n in ir.walk(s) if isinstance(n, ir.ForNeighbors))
    return next(n for n in inside if n.segments > 1 or n.planned)


def key_of(loop: ir.ParFor, target: Target) -> str:
    """The layout that a parallel loop over segments walks, slices or rows, or a plan."""
    if isinstance(loop.domain, ir.PlannedArcs):
        return loop.domain.key
    if isinstance(loop.domain, ir.PartedSlices):
        return PART_SLICES.key(loop.domain.parts, sliced(loop).bits(target))
    if isinstance(loop.domain, ir.Slices):
        layout = SLICES if arcs_of(loop).orientation is ir.Orientation.IN else OUT_SLICES
        return layout.key(loop.domain.count, sliced(loop).bits(target))
    assert isinstance(loop.domain, ir.Segments)
    if isinstance(loop.domain, ir.PartedSegments):
        return PARTS.key(loop.domain.parts)
    layout = SELL if isinstance(loop.domain, ir.SlicedSegments) else SEGMENTS
    return layout.key(loop.domain.count)

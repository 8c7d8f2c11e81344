"""Neighbors, and sets that are made of those of two vertices: loops, sizes, membership.

Neighbors by themselves stand once for each arc; in `&`, `|` and `-` they are sets, in which a vertex stands once.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from vgraph import refusals
from vgraph.compiler import ir
from vgraph.compiler.frontend import syntax as s
from vgraph.compiler.frontend.kinds import Value, zero
from vgraph.compiler.frontend.lowering import entities as en
from vgraph.compiler.frontend.lowering.context import AlgorithmContext, Context, OperatorContext, Uses
from vgraph.compiler.frontend.lowering.statements import loop_body, loop_name
from vgraph.compiler.frontend.lowering.values import (
    entity,
    int64,
    integer,
    shared,
    some,
    sure,
    value,
    where_sure,
)
from vgraph.compiler.frontend.lowering.vertices import degree, vertex_of
from vgraph.compiler.ir.legality import WORDS
from vgraph.compiler.types import BOOL, EID, I64, VID
from vgraph.source import Span

_Set = en.Neighbors | en.NeighborSet


def _index(ctx: Context, e: s.Index, owner: en.Neighbors) -> Value:
    """The k-th neighbor; vg.none of vg.none."""
    v, way = owner.vertex, owner.orientation
    if owner.edges:
        raise refusals.types.NoIndex(e.span, owner.words)
    k = integer(ctx, e.index, "the position of a neighbor")
    if v.valid:
        return Value(ir.Neighbor(v.expr, way, k, span=e.span), VID, e.span, valid=True)
    at = sure(ctx, v).expr
    read = ir.Neighbor(at, way, k, span=e.span)
    found = ir.Select(some(at, e.span), read, zero(VID, e.span), span=e.span)
    return Value(found, VID, e.span)


def _loop(ctx: Context, statement: s.For, over: en.Neighbors) -> None:
    """`for u in v.out_neighbors:`, `for e in v.out_edges:`."""
    _not_in_driver(ctx, statement.iterable.span)
    v, span = sure(ctx, over.vertex), statement.target.span
    if over.edges:
        vertex, edge = ctx.names.fresh("neighbor"), loop_name(ctx, statement)
    else:
        vertex, edge = loop_name(ctx, statement), ctx.names.fresh("arc")
    u = Value(ir.Var(vertex, VID, span=span), VID, span, valid=True)
    bound: en.Entity = u
    if over.edges:
        src, dst = (v, u) if over.orientation is ir.Orientation.OUT else (u, v)
        own = isinstance(ctx, OperatorContext) and not ctx.is_edge and v.expr == ctx.own
        side = over.orientation if own else None
        arc = Value(ir.Var(edge, EID, span=span), EID, span, valid=True)
        bound = en.Edge(arc, src, dst, span, side)
    body = loop_body(ctx, statement, bound)
    loop = ir.ForNeighbors(vertex, edge, v.expr, over.orientation, body, span=statement.span)
    where_sure(ctx, loop, v)


def _not_in_driver(ctx: Context, span: Span) -> None:
    if isinstance(ctx, AlgorithmContext):
        raise refusals.driver.NeighborsInDriver(span)


# --- sets


def _combine(ctx: Context, op: str, left: en.Entity, right: en.Entity, span: Span) -> en.NeighborSet:
    """`v.out_neighbors & u.out_neighbors`."""
    sides = (left, right)
    if not (isinstance(left, _Set) and isinstance(right, _Set)):
        raise refusals.types.NotNeighbors(span, op, " and ".join(map(en.words, sides)))
    if op not in WORDS["SetOperation"]:
        raise refusals.types.NotNeighbors(span, op, "neighbors")
    if any(isinstance(side, en.Neighbors) and side.edges for side in sides):
        raise refusals.calls.NotIterable(span, "common edges", "; use out_neighbors or in_neighbors")
    return en.NeighborSet(op, left, right, span)


def membership(ctx: Context, e: s.Compare) -> Value:
    """`u in v.out_neighbors`, `u not in v.out_neighbors`."""
    ((op, operand),) = e.rest
    if isinstance(operand, s.Items) or (
        isinstance(operand, s.Call) and operand.function.span.text == "range"
    ):
        raise refusals.types.AmongNumbers(operand.span)
    item, among = value(ctx, e.first), entity(ctx, operand)
    rule = ctx.uses(among).contains
    edges = isinstance(among, en.Neighbors) and among.edges
    if rule is None or edges:
        raise refusals.types.Membership(e.span, "edges" if edges else en.words(among))
    vertex = Value(vertex_of(ctx, item, e.first.span), VID, e.first.span, item.valid)
    found = rule(ctx, among, shared(ctx, vertex).expr, e.span)
    return Value(found if op == "in" else ir.Unary("not", found, span=e.span), BOOL, e.span)


def contains(ctx: Context, among: _Set, vertex: ir.Expr, span: Span) -> ir.Expr:
    """`u in v.out_neighbors`; a `vertex` that is evaluated several times is as good as a variable."""
    if isinstance(among, en.NeighborSet):
        left, right = (contains(ctx, side, vertex, span) for side in (among.left, among.right))
        if among.op == "-":
            right = ir.Unary("not", right, span=span)
        return ir.Logical("or" if among.op == "|" else "and", left, right, span=span)
    v = sure(ctx, among.vertex)
    found: ir.Expr = ir.HasNeighbor(v.expr, among.orientation, vertex, span=span)
    return found if v.valid else ir.Logical("and", some(v.expr, span), found, span=span)


def _set_loop(ctx: Context, statement: s.For, over: en.NeighborSet) -> None:
    """`for w in v.out_neighbors & u.out_neighbors:`."""
    _not_in_driver(ctx, statement.iterable.span)
    over, name = _fixed(ctx, over), loop_name(ctx, statement)
    w = Value(ir.Var(name, VID, span=statement.target.span), VID, statement.target.span, valid=True)
    _visit(ctx, over, name, loop_body(ctx, statement, w), statement.span)


def _size(ctx: Context, over: en.NeighborSet, span: Span) -> ir.Expr:
    """`len(v.out_neighbors & u.out_neighbors)`."""
    _not_in_driver(ctx, span)
    over, name = _fixed(ctx, over), ctx.temporary("size", I64, int64(0, span), span)
    counted = ir.Accumulate("+", name, int64(1, span), span=span)
    _visit(ctx, over, ctx.names.fresh("member"), (counted,), span)
    return ir.Var(name, I64, span=span)


def _in_common(over: en.NeighborSet) -> tuple[en.Neighbors, en.Neighbors] | None:
    """The two of which a set is what they have in common, if it is."""
    match over:
        case en.NeighborSet(op="&", left=en.Neighbors() as left, right=en.Neighbors() as right):
            return left, right
    return None


def _fixed(ctx: Context, over: en.NeighborSet) -> en.NeighborSet:
    """The set of the vertices as they are before a loop over it, whatever the loop assigns."""
    if _in_common(over):  # which looks at them once
        return over

    def fixed(side: _Set) -> _Set:
        if isinstance(side, en.NeighborSet):
            return replace(side, left=fixed(side.left), right=fixed(side.right))
        v = side.vertex
        if isinstance(ctx, OperatorContext) and v.expr in (ctx.own, ctx.src):
            return side
        name = ctx.temporary("vertex", VID, v.expr, v.span)
        return replace(side, vertex=replace(v, expr=ir.Var(name, VID, span=v.span)))

    return replace(over, left=fixed(over.left), right=fixed(over.right))


def _visit(ctx: Context, over: en.NeighborSet, name: str, body: ir.Body, span: Span) -> None:
    """Emit the loop over a set, each vertex once, ascending."""
    common = _in_common(over)
    if common is not None:
        a, b = (sure(ctx, side.vertex) for side in common)
        ways = [side.orientation for side in common]
        where_sure(ctx, ir.ForCommon(name, a.expr, ways[0], b.expr, ways[1], body, span=span), a, b)
        return
    lists, test = _cover(ctx, over, ir.Var(name, VID, span=span), span)
    if test is not None:
        body = (ir.If(test, body, span=span),)
    if len(lists) == 1:
        _walk(ctx, lists[0], name, body, span)
    else:
        _merge(ctx, lists, name, body, span)


def _cover(ctx: Context, over: _Set, w: ir.Var, span: Span) -> tuple[list[en.Neighbors], ir.Expr | None]:
    """Lists in which together all of the set is, and what is to be tested of a vertex `w` in them; None: nothing."""
    if isinstance(over, en.Neighbors):
        return [over], None
    left, right = (_cover(ctx, side, w, span) for side in (over.left, over.right))
    if over.op == "|":
        whole = left[1] is None and right[1] is None
        return [*left[0], *right[0]], None if whole else contains(ctx, over, w, span)
    (lists, test), other = left, over.right
    if over.op == "&" and len(right[0]) < len(lists):
        (lists, test), other = right, over.left
    more = contains(ctx, other, w, span)
    if over.op == "-":
        more = ir.Unary("not", more, span=span)
    return lists, more if test is None else ir.Logical("and", test, more, span=span)


def _walk(ctx: Context, over: en.Neighbors, name: str, body: ir.Body, span: Span) -> None:
    """The neighbors of one vertex; parallel arcs stand side by side."""
    last = ctx.temporary("last", VID, ir.Const(-1, VID, span=span), span)
    w = ir.Var(name, VID, span=span)
    test = ir.Compare("!=", w, ir.Var(last, VID, span=span), span=span)
    once = ir.If(test, (ir.Assign(last, w, span=span), *body), span=span)
    v, arc = over.vertex, ctx.names.fresh("arc")
    where_sure(ctx, ir.ForNeighbors(name, arc, v.expr, over.orientation, (once,), span=span), v)


def _merge(ctx: Context, lists: list[en.Neighbors], name: str, body: ir.Body, span: Span) -> None:
    """The neighbors of several vertices: the least that is left of any list, until none is left."""
    heads: list[ir.Expr] = []
    tests: list[ir.Expr] = []
    steps: list[ir.Stmt] = []
    one, none = int64(1, span), ir.Const(-1, VID, span=span)
    w = ir.Var(name, VID, span=span)
    for over in lists:
        v = over.vertex
        end = ir.Var(
            ctx.temporary("end", I64, degree(ctx, v, over.orientation, span).expr, span), I64, span=span
        )
        at = ir.Var(ctx.temporary("at", I64, int64(0, span), span), I64, span=span)
        inside = ir.Compare("<", at, end, span=span)
        here = ir.Neighbor(v.expr, over.orientation, at, span=span)
        tests.append(inside)
        heads.append(ir.Select(inside, here, none, span=span))
        seen = ir.Logical("and", inside, ir.Compare("==", here, w, span=span), span=span)
        further = ir.Assign(at.name, ir.Binary("+", at, one, span=span), span=span)
        steps.append(ir.While(seen, (further,), span=span))
    left = reduce(lambda a, b: ir.Logical("or", a, b, span=span), tests)
    least = reduce(lambda a, b: ir.Binary("min", a, b, span=span), heads)
    ctx.emit(ir.While(left, (ir.Let(name, VID, least, span=span), *steps, *body), span=span))


USES = Uses(
    index=_index,
    size=lambda ctx, n, span: degree(ctx, n.vertex, n.orientation, span).expr,
    loop=_loop,
    combine=_combine,
    contains=contains,
)
SET_USES = Uses(size=_size, loop=_set_loop, combine=_combine, contains=contains)

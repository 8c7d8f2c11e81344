"""`lower-pull`: walk the arcs that enter each vertex, gather in registers, write once; no atomics.

before: `out = edge_apply(relax, f) schedule(direction=pull, ...)`
after:  `parfor dst in vertices { let acc = dist[dst]; for (src, edge) in in(dst) { if contains(f, src) { ... } } ... }`

Data-driven, only the vertices next to the frontier are visited: a first loop collects them.

With `segments=4` the loops are `parfor dst in vertices segments 4` and `for (src, edge) in in(dst) segments 4`: a
destination is visited once for each segment that has arcs into it, goes on from the value it has, and stores it back.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import only_claims, the_claim
from vgraph.compiler.analysis.guards import lasting_tests, without
from vgraph.compiler.analysis.lanes import shared_loops
from vgraph.compiler.passes.cut_loops import is_cut, with_pieces
from vgraph.compiler.passes.lowering import Lowering, after_round, before_round, count_of, lowering, scalar
from vgraph.compiler.passes.pull_pieces import sliced
from vgraph.compiler.passes.pulls import collect, open_at, piece_body, pull_body, still_open
from vgraph.compiler.types import VID
from vgraph.schedule import VERTEX, ApplySchedule, Direction, Drive, Phases, Rows

LONG: Final = 1024
"""Arcs of a row from which on threads share it."""


def _lower(low: Lowering, apply: ir.EdgeApply) -> ir.Body:
    operator = low.operator(apply.op)
    if apply.among and not apply.keeping:
        return _behind_guard(low, apply, operator)
    if apply.keeping and is_cut(apply) and not low.context.abilities.warps:
        return _long_rows_apart(low, apply, operator)
    dst = operator.args[2]
    target = low.target(apply)
    segments = apply.chosen.ranges
    inner = apply
    if apply.chosen.drive is Drive.DATA:
        candidates, active, collected = collect(low, apply)
        inner = ir.with_fields(apply, {"frontier": active})
        before: ir.Body = (*collected, *before_round(inner, target, ir.Layout.BITMAP))
        domain: ir.Domain = ir.SparseMembers(candidates)
    else:
        before = before_round(apply, target, ir.Layout.BITMAP)
        domain = ir.BitmapMembers(apply.among) if apply.among else _ranges(apply.chosen)
    if segments > 1 and low.context.abilities.warps:
        body = sliced(low, inner, operator, target)
        parts = apply.chosen.parts
        slices = ir.PartedSlices(segments, str(parts)) if parts else ir.Slices(segments)
        loop = ir.ParFor(dst, slices, body, apply.label, span=apply.span)
        return (*before, loop, *after_round(apply, target, "pull", ir.GraphSize("num_arcs")))
    body, arcs = pull_body(low, inner, operator, target)
    loop = ir.ParFor(dst, domain, body, apply.label, span=apply.span)
    loop = with_pieces(low, apply, loop, apply.entering)
    whole = segments > 1 and not only_claims(operator.body)
    walked = ir.GraphSize("num_arcs") if whole else count_of(arcs)
    done = after_round(apply, target, "pull", walked)
    after: ir.Body = ()
    if apply.among and apply.keeping:
        before = (*before, ir.FrontierClear(apply.keeping, ir.Layout.BITMAP))
        swap = ir.Single((ir.FrontierSwap(apply.among, apply.keeping),), span=apply.span)
        done = (swap, *done)
        after = _still_open(low, apply) if is_cut(apply) else ()
    return (*before, ir.SetGlobal(arcs, scalar(0)), loop, *after, *done)


def _ranges(schedule: ApplySchedule) -> ir.Domain:
    """All vertices, for one range of sources after the other, or one part of the arcs, if there are any."""
    if schedule.parts:
        return ir.PartedSegments(schedule.ranges, str(schedule.parts))
    if schedule.rows is Rows.SLICES:
        return ir.SlicedSegments(schedule.ranges)
    return ir.Segments(schedule.ranges) if schedule.ranges > 1 else ir.VertexWords()


def _still_open(low: Lowering, apply: ir.EdgeApply) -> ir.Body:
    """Keep what stays open in a loop of its own: a piece cannot tell while others may still claim the vertex."""
    assert apply.among is not None
    v = low.fresh("v")
    return (ir.ParFor(v, ir.BitmapMembers(apply.among), (still_open(low, apply, ir.Var(v, VID)),)),)


def _long_rows_apart(low: Lowering, apply: ir.EdgeApply, operator: ir.Operator) -> ir.Body:
    """A pull of a claim: threads walk whole rows, but set those of more than LONG arcs aside, and share these then.

    before: `f = edge_apply(reach, f) schedule(direction=pull, balance=edge, ...) among open keeping open.1`
    after:  `parfor dst in bitmap open { if degree.in(dst) > 1024 { push long dst; push open.1 dst } else { ... } };
            if size(long) > 0 { parfor dst in sparse long cut in balance edge { ... } }`

    A long row stays among the open ones when it has been claimed, and is looked at before it is set aside again.
    """
    assert apply.among is not None
    assert apply.keeping is not None
    limit, dst, target = apply.chosen.balance.limit or LONG, operator.args[2], low.target(apply)
    own = ir.Var(dst, VID)
    body, arcs = pull_body(
        low, ir.with_fields(apply, {"schedule": replace(apply.chosen, balance=VERTEX)}), operator, target
    )
    long = low.hidden(f"{apply.label}.long.next")
    aside: ir.Body = (
        ir.FrontierPush(long, own, ir.Layout.SPARSE, False),
        ir.FrontierPush(apply.keeping, own, ir.Layout.BITMAP, True),
    )
    still = open_at(the_claim(operator.body), own)
    many = ir.Compare(">", ir.Degree(own, apply.entering), scalar(limit))
    rows = ir.If(many, (ir.If(still, aside),), body)
    loop = ir.ParFor(dst, ir.BitmapMembers(apply.among), (rows,), apply.label, span=apply.span)
    pieces = ir.ParFor(
        dst, ir.SparseMembers(long), piece_body(low, apply, operator, target, arcs), span=apply.span
    )
    shared = with_pieces(low, apply, pieces, apply.entering)
    return (
        *before_round(apply, target, ir.Layout.BITMAP),
        ir.FrontierClear(apply.keeping, ir.Layout.BITMAP),
        ir.Single((ir.FrontierClear(long, ir.Layout.SPARSE),)),
        ir.SetGlobal(arcs, scalar(0)),
        loop,
        ir.If(ir.Compare(">", ir.FrontierSize(long), scalar(0)), (shared,)),
        ir.Single((ir.FrontierSwap(apply.among, apply.keeping),), span=apply.span),
        *after_round(apply, target, "pull", count_of(arcs)),
    )


def _behind_guard(low: Lowering, apply: ir.EdgeApply, operator: ir.Operator) -> ir.Body:
    """A pull into the vertices alone at which the guard of its operator holds; it lasts for the round.

    before: `f = edge_apply(reach, f) ... among open` with `if level[dst] == -1 { paths[dst] += paths[src] }`
    after:  `parfor v in vertices words { if level[v] == -1 and degree(in, v) > 0 { push open v } };
            parfor dst in bitmap open { let acc = paths[dst]; for (src, e) in in(dst) { ... } ... }`

    The guard is looked at once for a vertex and round, 64 vertices at a time, and no longer at each arc.
    """
    assert apply.among is not None
    tests = lasting_tests(low.program, operator)
    assert tests, "the operator has a guard"
    dst = operator.args[2]
    inner = ir.with_fields(operator, {"body": without(operator.body, tests)})
    target, balance = low.target(apply), apply.chosen.balance
    uncut = ir.with_fields(apply, {"schedule": replace(apply.chosen, balance=VERTEX)})
    body, arcs = pull_body(low, uncut, inner, target)
    v = low.fresh("v")
    here = ir.Var(v, VID)
    some: ir.Expr = ir.Compare(">", ir.Degree(here, apply.entering), scalar(0))
    tests = [
        ir.transform(t, lambda n: here if isinstance(n, ir.Var) and n.name == dst else None) for t in tests
    ]
    push: ir.Stmt = ir.FrontierPush(apply.among, here, ir.Layout.BITMAP, True)
    choice = ir.If(functools.reduce(lambda a, b: ir.Logical("and", a, b), [*tests, some]), (push,))
    loop = ir.ParFor(dst, ir.BitmapMembers(apply.among), body, apply.label, span=apply.span)
    if balance != VERTEX and shared_loops(loop):
        loop = ir.with_fields(loop, {"balance": balance})
    return (
        *before_round(apply, target, ir.Layout.BITMAP),
        ir.FrontierClear(apply.among, ir.Layout.BITMAP),
        ir.ParFor(v, ir.VertexWords(), (choice,), span=apply.span),
        ir.SetGlobal(arcs, scalar(0)),
        loop,
        *after_round(apply, target, "pull", count_of(arcs)),
    )


def _is_pull(schedule: ApplySchedule) -> bool:
    fixed = schedule.phases is Phases.FUSED and schedule.drive is not Drive.AUTO
    return fixed and schedule.direction is Direction.PULL


lower_pull = lowering("lower-pull", ir.EdgeApply, _is_pull, _lower)

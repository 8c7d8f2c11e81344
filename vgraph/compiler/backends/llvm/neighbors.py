"""Sequential loops over the neighbors of a vertex, and over the neighbors that two vertices share."""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.backends.llvm import gathers, hubs, sell
from vgraph.compiler.backends.llvm.emitter import Emitter
from vgraph.compiler.backends.llvm.expressions import row
from vgraph.compiler.backends.llvm.loops import counted
from vgraph.compiler.backends.llvm.parallel import poll
from vgraph.compiler.backends.llvm.values import Value
from vgraph.compiler.backends.scan import hubs_key, loop_depth
from vgraph.compiler.types import EID, VID
from vgraph.graph.layouts.segments import SEGMENTS


def emit_for_neighbors(f: Emitter, node: ir.ForNeighbors) -> None:
    """`for (u, e) in out(v)`: a counted loop over arc numbers."""
    if node.segments > 1 and f.region is not None and f.region.slice is not None:
        sell.walk_row(f, node, f.region.slice)
        return
    begin, end, columns = _arcs(f, node)
    if node.vectorize:
        begin, end = gathers.by_lanes(f, node, begin, end, columns)

    def each(arc: str, again: str, leave: str) -> None:
        if f.region is not None and loop_depth(node.body):
            poll(f)
        if node.prefetch:
            gathers.prefetch(f, node, arc, columns)
        with f.turn(again, leave):
            f.bind(node.vertex, Value(f.read(f.types.id, f.pointers[columns], arc, columns), VID))
            f.bind(node.edge, f.narrow(arc, EID))
            f.body(node.body)

    counted(f, begin, end, each, "arcs")


def _arcs(f: Emitter, node: ir.ForNeighbors) -> tuple[str, str, str]:
    """The numbers of the first arc and of that behind the last, and the array with the other ends."""
    if node.segments > 1:
        assert f.region is not None
        key = SEGMENTS.key(node.segments)
        name = f"{key}.row_offsets"
        address = f.item(f.types.offset, f.pointers[name], f.region.row)
        bounds = [f.read(f.types.offset, address, k, name) for k in ("0", "1")]
        wide = [b if f.types.offset == "i64" else f.op(f"zext {f.types.offset} {b} to i64") for b in bounds]
        return wide[0], wide[1], f"{key}.column_indices"
    if node.planned:
        assert f.region is not None
        end = f.op(f"add nuw nsw i64 {f.region.row}, 1")
        return f.region.row, end, f.region.columns
    if node.beyond:
        _, begin, end = hubs.bounds(f, node.orientation, node.beyond, f.index(f.expr(node.of)))
        return begin, end, f"{hubs_key(node.orientation, node.beyond)}.columns"
    columns = f"{node.orientation.value}.column_indices"
    v, piece = f.index(f.expr(node.of)), f.piece
    whole = piece is None or piece.side is not node.orientation
    if piece is not None and not whole and isinstance(node.of, ir.Var) and node.of.name == piece.vertex:
        return piece.begin, piece.end, columns
    return *row(f, node.orientation, v), columns


def _two_rows(f: Emitter, node: ir.ForCommon) -> tuple[list[str], list[str], list[str]]:
    """Where the lists of both vertices begin and end, and in which arrays."""
    ends = f.index(f.expr(node.left)), f.index(f.expr(node.right))
    sides = (node.left_orientation, node.right_orientation)
    if node.beyond:
        found = [hubs.bounds(f, side, node.beyond, x)[1:] for side, x in zip(sides, ends, strict=True)]
        columns = [f"{hubs_key(side, node.beyond)}.columns" for side in sides]
    else:
        found = [row(f, side, x) for side, x in zip(sides, ends, strict=True)]
        columns = [f"{side.value}.column_indices" for side in sides]
    return [begin for begin, _ in found], [end for _, end in found], columns


def emit_for_common(f: Emitter, node: ir.ForCommon) -> None:
    """`for w in common(out(a), out(b))`: for each neighbor of a, the list of b is moved up to it.

    Measured on power-law graphs against merging without branches (1.4 times slower) and against a binary
    search where one list is 32 times as long (no gain).
    """
    begins, ends, columns = _two_rows(f, node)
    limit = _limit(f, node)
    t = f.types.id
    head, advance = map(f.label, ("common", "common.right"))
    further, match, inside, again, leave = (
        f.label("common" + s) for s in (".further", ".match", ".body", ".next", ".end")
    )
    i, j, last, k = (f"%{name}.{head}" for name in ("i", "j", "last", "k"))
    before = f.block
    f.start(head)
    f.lines += [
        f"  {i} = phi i64 [ {begins[0]}, %{before} ], [ %in.{head}, %{again} ]",
        f"  {j} = phi i64 [ {begins[1]}, %{before} ], [ {k}, %{again} ]",
        f"  {last} = phi {t} [ -1, %{before} ], [ %x.{head}, %{again} ]",
    ]
    f.jump_if(f.op(f"icmp eq i64 {i}, {ends[0]}"), leave)
    x = f.read(t, f.pointers[columns[0]], i, columns[0])
    f.do(f"%x.{head} = add {t} {x}, 0")
    if limit is not None:
        f.jump_if(f.op(f"icmp {limit[0]} {t} {x}, {limit[1]}"), leave)
    entry = f.block
    f.start(advance)
    f.lines.append(f"  {k} = phi i64 [ {j}, %{entry} ], [ %kn.{head}, %{further} ]")
    f.jump_if(f.op(f"icmp eq i64 {k}, {ends[1]}"), leave)
    y = f.read(t, f.pointers[columns[1]], k, columns[1])
    f.branch(f.op(f"icmp ult {t} {y}, {x}"), further, match)
    f.start(further)
    f.do(f"%kn.{head} = add nuw nsw i64 {k}, 1")
    f.jump(advance)
    f.start(match)
    fresh = f.op(f"icmp ne {t} {x}, {last}")  # multi-edges: each common vertex once
    same = f.op(f"icmp eq {t} {x}, {y}")
    f.branch(f.op(f"and i1 {same}, {fresh}"), inside, again)
    f.start(inside)
    with f.turn(again, leave):
        f.bind(node.vertex, Value(x, VID))
        f.body(node.body)
    f.start(again)
    f.do(f"%in.{head} = add nuw nsw i64 {i}, 1")
    f.jump(head)
    f.start(leave)


_MIRRORED: Final = {">": "<", ">=": "<=", "<": ">", "<=": ">="}


def _limit(f: Emitter, node: ir.ForCommon) -> tuple[str, str] | None:
    """The predicate and bound of a body that begins `if w > bound: break`.

    Since the lists ascend, the loop may end at the first vertex of the left list beyond it, common or not.
    """
    match node.body[:1]:
        case (ir.If(ir.Compare(op, left, right), (ir.Break(),)),):
            if isinstance(right, ir.Var) and right.name == node.vertex:
                op, left, right = _MIRRORED.get(op, op), right, left
            at_vertex = isinstance(left, ir.Var) and left.name == node.vertex
            fixed = isinstance(right, ir.Const) or (
                isinstance(right, ir.Var) and right.name not in (node.vertex, *f.scan.assigned)
            )
            if at_vertex and fixed and op in (">", ">="):
                return ("ugt" if op == ">" else "uge"), f.expr(right).text
    return None

"""Loops over the arcs of a vertex or of a piece of it, and over common neighbors: of a thread, or shared by lanes."""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.lanes import Sums, carried, compared_with, ends_walk, leaves, own_arcs
from vgraph.compiler.backends.cuda import heads
from vgraph.compiler.backends.cuda.emitter import Emitter, Marked, Place, Region
from vgraph.compiler.backends.cuda.rows import over_arcs, walk_row
from vgraph.compiler.backends.cuda.stages import emit_in_stages, tried
from vgraph.compiler.backends.cuda.statements import OPERATIONS
from vgraph.compiler.backends.cuda.texts import constant
from vgraph.compiler.facts import PARALLEL
from vgraph.compiler.ir.reductions import neutral
from vgraph.compiler.types import BOOL, VID


def emit_for_neighbors(f: Emitter, node: ir.ForNeighbors) -> None:
    """`for (u, e) in out(v)`: a loop over arc numbers; of the piece, if the visit has one."""
    if node.planned:
        assert f.region is not None
        e, k = f.local(node.edge), f.region.planned
        with f.sequential(), f.block("do", "} while (false);"):
            f.line(f"eid {e} = (eid){k};")
            f.body(node.body)
        return
    if node.marks is None or f.place is not Place.GROUP:
        _over_neighbors(f, node)
        return
    assert f.region is not None
    side = node.marks.value
    rows, columns = f.array(f"{side}.row_offsets"), f.array(f"{side}.column_indices")
    marks, v = f.temporary("marks"), f.local(f.region.vertex)
    key = heads.key_of(node, f.region)
    given = f"lanes, {f.region.shelf}, {rows}, {columns}, {v}" + (f", {heads.width(f, key)}" if key else "")
    with f.block(""):
        f.line(f"Marks<decltype(lanes), eid, vid> {marks}({given});")
        if key:
            heads.emit_arcs(f, node, f.region, marks, key, *_bounds(f, node))
        else:
            _as_one(f, node, f.region, marks)
        f.line(f"{marks}.clear(lanes);")


def _as_one(f: Emitter, node: ir.ForNeighbors, region: Region, marks: str) -> None:
    """The loop over the arcs of the visit, which the group goes through as one."""
    side = node.marks
    assert side is not None
    walked = heads.walked(node, region.vertex)
    begin, end = _bounds(f, node)
    columns = f.array(f"{node.orientation.value}.column_indices")
    rows = f.array(f"{walked.value}.row_offsets")
    arcs = f.temporary("arcs")
    f.line(f"Arcs<decltype(lanes), eid, vid> {arcs}(lanes, {columns}, {rows}, {begin}, {end});")
    with f.sequential(), f.block(f"for (; {arcs}.more(); {arcs}.next())"):
        f.line(f"eid {f.local(node.edge)} = {arcs}.at;")
        f.line(f"vid {f.local(node.vertex)} = {arcs}.vertex();")
        region.marks = Marked(region.vertex, side, marks, node.vertex, walked, arcs)
        f.body(node.body)
        region.marks = None


def _over_neighbors(f: Emitter, node: ir.ForNeighbors) -> None:
    region, columns = f.region, f.array(f"{node.orientation.value}.column_indices")
    e = f.local(node.edge)
    if region is not None and region.tile and region.tile.row and region.tile.row.loop is node:
        region.tile.row.walk(f)
        return
    if region is not None and f.place is Place.GROUP and id(node) in region.shared:
        _shared_loop(f, node, columns)
        return
    if region is not None and region.pieces and own_arcs(node, region.vertex, region.side):
        if f.place is Place.GROUP:
            head = f"for (eid {e} = begin; {e} < end; ++{e})"
        elif region.ahead is None and (update := tried(node)):
            emit_in_stages(f, node, update, columns, "begin, end")
            return
        else:
            head = _by_lanes(e, "begin", "end")
    else:
        walk_row(f, node, columns)
        return
    over_arcs(f, node, columns, head)


def _shared_loop(f: Emitter, node: ir.ForNeighbors, columns: str) -> None:
    """The lanes take arcs in turn; what each adds up is combined behind the loop."""
    e = f.local(node.edge)
    sums = _begin_sums(f, node)
    begin, end = _bounds(f, node)
    if leaves(node.body) and sums:
        _search(f, node, columns, sums, begin, end)
        return
    assert f.region is not None
    if f.region.ahead is None and (update := tried(node)):
        with f.at(Place.THREAD):
            emit_in_stages(f, node, update, columns, f"{begin}, {end}")
        _combine(f, sums)
        return
    with f.at(Place.THREAD):
        over_arcs(f, node, columns, _by_lanes(e, begin, end))
    _combine(f, sums)


def _by_lanes(e: str, begin: str, end: str) -> str:
    """The head of a loop over arcs that lanes take in turn."""
    return f"for (eid {e} = {begin} + lanes.rank(); {e} < {end}; {e} += lanes.size)"


def _begin_sums(f: Emitter, node: ir.ForNeighbors | ir.ForCommon) -> Sums:
    """What the lanes combine behind a loop; before it all but one have nothing of it."""
    sums = carried(node)
    assert sums is not None
    for name, (op, t) in sums.items():
        if t is not None:
            nothing = constant(neutral(op, t), t, f.program.target)
            f.line(f"if (!lanes.leads()) {f.local(name)} = {nothing};")
    return sums


def _bounds(f: Emitter, node: ir.ForNeighbors) -> tuple[str, str]:
    """The arcs of the visit; where the group has whole vertices, the loop may be over those of the other side."""
    region = f.region
    assert region is not None
    own = own_arcs(node, region.vertex)
    if own and node.orientation is region.side:
        return "begin", "end"
    v = f.local(region.vertex) if own else f.define(VID, "of", f.expr(node.of))
    begin, end = (f.temporary(f"{node.edge} {word}") for word in ("begin", "end"))
    row = f.row(node.orientation.value, v)
    f.line(f"eid {begin} = {row[0]}, {end} = {row[1]};")
    return begin, end


def _combine(f: Emitter, sums: Sums) -> None:
    for name, (op, _) in sums.items():
        x = f.local(name)
        f.line(f"{x} = lanes.template reduce<{OPERATIONS[op]}>({x});")


def _search(f: Emitter, node: ir.ForNeighbors, columns: str, flags: Sums, begin: str, end: str) -> None:
    """A loop that is left early: every lane leaves a stretch by itself, then all look whether one has found it."""
    e = f.local(node.edge)
    at, until = f.temporary(f"{node.edge} stretch"), f.temporary(f"{node.edge} until")
    found = " && ".join(
        f.local(name) if op == "|" else f"!{f.local(name)}" for name, (op, _) in flags.items()
    )
    with f.block(f"for (eid {at} = {begin}, {until}; {at} < {end}; {at} = {until})"):
        f.line(f"{until} = stretch(lanes, {at}, {end});")
        with f.at(Place.THREAD):
            over_arcs(f, node, columns, _by_lanes(e, at, until))
        _combine(f, flags)
        f.line(f"if ({found}) break;")


def emit_for_common(f: Emitter, node: ir.ForCommon) -> None:
    """`for w in common(out(a), out(b))`: for each neighbor of a, the list of b is moved up to it."""
    w = f.local(node.vertex)
    marked = f.region.marks if f.region is not None and f.place is Place.GROUP else None
    if marked is not None and (walked := compared_with(node, marked.vertex, marked.side)):
        _among_marked(f, node, marked, *walked)
        return
    if f.region is not None and f.place is Place.GROUP and marked is None and id(node) in f.region.shared:
        _among_others(f, node)
        return
    names = [f.temporary(hint) for hint in ("left", "left end", "right", "right end", "before")]
    i, i_end, j, j_end, last = names
    sides = (node.left_orientation.value, node.right_orientation.value)
    columns = [f.array(f"{s}.column_indices") for s in sides]
    with f.block(""):
        a, b = f.define(VID, "a", f.expr(node.left)), f.define(VID, "b", f.expr(node.right))
        left, right = f.row(sides[0], a), f.row(sides[1], b)
        f.line(f"eid {i} = {left[0]}, {i_end} = {left[1]};")
        f.line(f"eid {j} = {right[0]}, {j_end} = {right[1]};")
        f.line(f"vid {last} = (vid)-1;")
        with f.sequential(), f.block(f"for (; {i} < {i_end}; ++{i})"):
            f.line(f"vid {w} = fixed(&{columns[0]}[{i}]);")
            condition = ends_walk(node)
            if condition is not None:
                f.line(f"if ({f.expr(condition)}) break;")
            f.line(f"{j} = next_not_below({columns[1]}, {j}, {j_end}, {w});")
            f.line(f"if ({j} == {j_end}) break;")
            f.line(f"if (fixed(&{columns[1]}[{j}]) != {w} || {w} == {last}) continue;")
            f.line(f"{last} = {w};")
            f.common += 1
            f.body(node.body)
            f.common -= 1


def _among_marked(
    f: Emitter, node: ir.ForCommon, marked: Marked, of: ir.Expr, walked: ir.Orientation
) -> None:
    """The lanes walk the other list in turn, and ask for each vertex whether it is marked."""
    columns = f.array(f"{walked.value}.column_indices")
    ahead = isinstance(of, ir.Var) and of.name == marked.other and walked is marked.walked
    if not ahead or marked.heads:
        begin, end = f.row(walked.value, f.define(VID, "of", f.expr(of)))
    else:
        begin, end = f"{marked.arcs}.begin()", f"{marked.arcs}.end()"
    if not (ahead and marked.heads):
        _walk_list(f, node, marked.name, columns, (begin, end))
        return
    sums = _begin_sums(f, node)
    with f.block(f"if constexpr ({marked.name}.BITS)"):
        heads.emit_walk(f, node, marked)
    tail = f.temporary("tail")
    f.line(f"bool {tail} = {marked.name}.BITS;")
    with f.block(f"if (!{tail} || {marked.name}.last >= {marked.heads}.width)"):
        tails = f"fixed(&{marked.heads}.tails[{marked.arcs}.vertex])"
        _walk(f, node, marked.name, columns, (f"{tail} ? {tails} : {begin}", end))
    _combine(f, sums)


def _among_others(f: Emitter, node: ir.ForCommon) -> None:
    """Of two lists that nobody marks the lanes walk one in turn, if it can be the shorter, and look in the other."""
    sides = node.left_orientation.value, node.right_orientation.value
    rows, columns = ([f.array(f"{s}.{x}") for s in sides] for x in ("row_offsets", "column_indices"))
    a, b = f.define(VID, "a", f.expr(node.left)), f.define(VID, "b", f.expr(node.right))
    if sides[0] == sides[1]:
        shorter = f"num_arcs_of({rows[0]}, {b}) < num_arcs_of({rows[0]}, {a})"
        turned = f.define(BOOL, "turned", shorter)
        walked, asked = (
            f.define(VID, x, f"{turned} ? {y} : {z}") for x, y, z in (("walked", b, a), ("asked", a, b))
        )
    else:
        walked, asked = a, b
    found = f.temporary("list")
    f.line(f"Marks<Thread, eid, vid> {found}({rows[1]}, {columns[1]}, {asked});")
    _walk_list(f, node, found, columns[0], f.row(sides[0], walked))


def _walk_list(f: Emitter, node: ir.ForCommon, marks: str, columns: str, bounds: tuple[str, str]) -> None:
    """The lanes walk a list in turn, and do the body for what is in `marks` too."""
    sums = _begin_sums(f, node)
    _walk(f, node, marks, columns, bounds)
    _combine(f, sums)


def _walk(f: Emitter, node: ir.ForCommon, marks: str, columns: str, bounds: tuple[str, str]) -> None:
    hints = ("arcs begin", "arcs end", "at", "from", "stretch", "k")
    begin, end, at, come, stretch, k = (f.temporary(hint) for hint in hints)
    w, guard = f.local(node.vertex), ends_walk(node)
    f.line(f"eid {begin} = {bounds[0]}, {end} = {bounds[1]}, {come} = {marks}.begin;")
    head = f"for (eid {at} = {begin} + lanes.rank(); {at} < {end}; {at} += TOGETHER * lanes.size)"
    with f.at(Place.THREAD), f.block(head):
        f.line(f"Stretch<decltype({marks}), vid> {stretch}({marks}, lanes, {columns}, {at}, {end});")
        f.line("#pragma unroll")
        with f.sequential(), f.block(f"for (u32 {k} = 0; {k} < TOGETHER; ++{k})"):
            f.line(f"vid {w} = {stretch}.w[{k}];")
            if guard is not None:
                f.line(f"if ({f.expr(guard)}) break;")
            place = f"{at} + {k} * lanes.size"
            again = f"({f.local(PARALLEL)} && {place} > {begin} && fixed(&{columns}[{place} - 1]) == {w})"
            asked = f"!({stretch}.likely >> {k} & 1) || !{marks}.has({w}, {come})"
            f.line(f"if ({asked} || {again}) continue;")
            f.common += 1
            f.body(node.body if guard is None else node.body[1:])
            f.common -= 1
        f.line(f"if ({stretch}.ends({marks})) break;")

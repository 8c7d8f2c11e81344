"""Emit functions of what a thread executes by itself: locals, memory, branches, sequential loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.lanes import Sums, carried, compared_with, ends_walk, leaves, own_arcs
from vgraph.compiler.backends.cuda.emitter import Emitter, Marked, Place, Region, sequential
from vgraph.compiler.backends.cuda.expressions import combined, element_number
from vgraph.compiler.backends.cuda.rows import far_end, walk_row
from vgraph.compiler.backends.cuda.stages import emit_in_stages, tried
from vgraph.compiler.backends.cuda.texts import constant, is_bool, is_real, type_name
from vgraph.compiler.backends.scan import has_collective
from vgraph.compiler.facts import PARALLEL
from vgraph.compiler.ir.reductions import neutral, one_element
from vgraph.compiler.ir.rewrite import walk
from vgraph.compiler.types import BOOL, I64, VID, Scalar, Vector, is_long

OPERATIONS: Final = {"+": "Sum", "*": "Product", "min": "Min", "max": "Max", "|": "Or", "&": "And"}
COUNTED: Final = range(1, 1 << 16)
"""What counters in shared memory add: they notice when they have come half way round."""
POLL_ROUNDS: Final = 1 << 16
"""A driver loop without any collective passes a barrier every so many rounds, so that it can be cancelled."""


# --- locals ----------------------------------------------------------------------------------------------------


def emit_let(f: Emitter, node: ir.Let) -> None:
    """`let x: i32 = e`, unless it is carried to the visit."""
    ahead = f.region.ahead if f.region is not None else None
    if ahead is not None and ahead.carried is not None and node is ahead.carried.let:
        return
    f.line(f"{type_name(node.type)} {f.local(node.name)} = {f.expr(node.value)};")


def emit_assign(f: Emitter, node: ir.Assign) -> None:
    """`x = e`, or one element of it."""
    name, element = f.local(node.name), one_element(node)
    if element is None:
        f.line(f"{name} = {f.expr(node.value)};")
    else:
        at = element_number(f, element.index, element.type)
        f.line(f"{name}[{at}] = {f.expr(element.value)};")


def emit_accumulate(f: Emitter, node: ir.Accumulate) -> None:
    """`x += e` on a local."""
    name = f.local(node.name)
    f.line(f"{name} = {combined(node.op, name, f.expr(node.value), node.value.type)};")


def emit_set_global(f: Emitter, node: ir.SetGlobal) -> None:
    """`@error = e`: every thread has its copy."""
    f.line(f"{f.global_(node.name)} = {f.expr(node.value)};")


def emit_reduce_global(f: Emitter, node: ir.ReduceGlobal) -> None:
    """`@error += e`: into this thread's partial."""
    assert f.region is not None
    name, value = f.region.partials[node.op, node.name], f.agreed(node.value)
    with f.effect():
        f.line(f"{name} = {combined(node.op, name, value, node.value.type)};")


# --- memory ----------------------------------------------------------------------------------------------------


def _written(f: Emitter, node: ir.Store | ir.Reduce) -> tuple[str, str]:
    """What is written to, and the value: of a vector one element, if no other changes."""
    place, element = f"{f.prop(node.prop)}[{f.agreed(node.index)}]", one_element(node)
    if element is None:
        return place, f.agreed(node.value)
    at = element_number(f, element.index, element.type)
    return f"{place}[{f.agreed_text(at, I64)}]", f.agreed(element.value)


def emit_store(f: Emitter, node: ir.Store) -> None:
    """`rank[v] = e`."""
    new = node.value
    if is_long(new.type) and isinstance(new, ir.Cast) and isinstance(new.operand.type, Scalar):
        place, value = f"{f.prop(node.prop)}[{f.agreed(node.index)}]", f.agreed(new.operand)
        with f.effect():
            f.line(f"fill_elements({place}, {value});")
        return
    if is_long(new.type) and isinstance(new, ir.Load):
        place, source = (f"{f.prop(n.prop)}[{f.agreed(n.index)}]" for n in (node, new))
        with f.effect():
            f.line(f"copy_elements({place}, {source});")
        return
    place, value = _written(f, node)
    with f.effect():
        if node.order is ir.Order.RELAXED:
            f.line(f"put_relaxed(&{place}, {value});")
        else:
            f.line(f"{place} = {value};")


def emit_reduce(f: Emitter, node: ir.Reduce) -> None:
    """`dist[v] min= e`, and whether it changed anything."""
    place, value = _written(f, node)
    place = f"&{place}"
    call = f"{'atomic_reduce' if node.atomic else 'reduce'}<{OPERATIONS[node.op]}>"
    ahead = f.region.ahead if f.region is not None else None
    if ahead is not None and ahead.carried is not None and node is ahead.carried.reduce:
        new = f.local(ahead.carried.new)
        f.line(f"{type_name(node.value.type)} {new} = {value};")
        value = new
    if f.place is Place.GROUP:
        changed = f.define(BOOL, "changed", "false") if node.changed else ""
        with f.effect():
            f.line(f"{changed} = {call}({place}, {value});" if changed else f"{call}({place}, {value});")
        if node.changed:
            f.line(f"if (lanes.same({changed})) {f.local(node.changed)} = true;")
    elif node.changed:
        f.line(f"if ({call}({place}, {value})) {f.local(node.changed)} = true;")
    elif f.common and (added := addend(node)) is not None:
        region = f.region
        if region is not None and node.prop in region.counters and added in COUNTED:
            k, at = region.counters.index(node.prop), f.expr(node.index)
            f.line(f"count({region.shelf}, {k}, {f.prop(node.prop)}, {at}, {added}u);")
        else:
            f.line(f"add_together({place}, {value});")
    else:
        f.line(f"{call}({place}, {value});")


def addend(node: ir.Reduce) -> int | None:
    """The fixed integer that is added: by several at once with the same outcome as one after the other."""
    value, t = node.value, node.value.type
    if not (node.atomic and node.op == "+" and isinstance(value, ir.Const)) or isinstance(t, Vector):
        return None
    return None if is_real(t) or is_bool(t) else int(value.value)


def emit_compare_and_swap(f: Emitter, node: ir.CompareAndSwap) -> None:
    """`ok = cas parent[v] from e with f`."""
    place = f"&{f.prop(node.prop)}[{f.agreed(node.index)}]"
    function = "claim" if node.atomic else "claim_alone"
    t = type_name(node.value.type)
    call = f"{function}<{t}>({place}, {f.agreed(node.expected)}, {f.agreed(node.value)})"
    ok = f.local(node.ok)
    if f.place is Place.GROUP:
        f.line(f"{ok} = false;")
        with f.effect():
            f.line(f"{ok} = {call};")
        f.line(f"{ok} = lanes.same({ok});")
    else:
        f.line(f"{ok} = {call};")


def emit_scratch_store(f: Emitter, node: ir.ScratchStore) -> None:
    """`scratch count[v] = e`: what was zero is noted."""
    name = f.names.of("scratch", node.prop)
    t = type_name(f.program.property(node.prop).type)
    f.line(f"note<{t}>({name}, {_notes(f, node.prop)}, {f.expr(node.index)}, {f.expr(node.value)});")


def emit_scratch_clear(f: Emitter, node: ir.ScratchClear) -> None:
    """`clear scratch count`."""
    f.line(f"forget({f.names.of('scratch', node.prop)}, {_notes(f, node.prop)});")


def _notes(f: Emitter, prop: str) -> str:
    names = f.names.of("touched", prop), f.names.of("noted", prop), f.names.of("size", "num_vertices")
    return ", ".join(names)


def emit_exchange(f: Emitter, node: ir.Exchange) -> None:
    """`exchange part part.next`: every thread has its copies of the addresses."""
    f.line(f"swap_arrays({f.prop(node.left)}, {f.prop(node.right)});")


# --- control ---------------------------------------------------------------------------------------------------


def emit_if(f: Emitter, node: ir.If) -> None:
    """`if c { ... } else { ... }`."""
    with f.block(f"if ({f.expr(node.condition)})", "}" if not node.other else ""):
        f.body(node.then)
    if node.other:
        f.lines.pop()
        with f.block("} else"):
            f.body(node.other)


def emit_alone(f: Emitter, node: ir.Alone) -> None:
    """`alone { ... }`: a barrier of the grid is cheap beside what one thread of it does, so all take part."""
    f.body(node.body)


def emit_while(f: Emitter, node: ir.While) -> None:
    """`while c { ... }`."""
    tick = ""
    if f.region is not None or not has_collective(node.body):
        tick = f.temporary("rounds")
        f.line(f"u32 {tick} = 0;")
    with sequential(f), f.block(f"while ({f.expr(node.condition)})"):
        if tick and f.region is None:
            f.line(f"if (++{tick} % {POLL_ROUNDS} == 0 && team.meet()) return;")
        elif tick:
            cancelled = "relaxed(&control->cancel)"
            cancelled = f"lanes.same({cancelled})" if f.place is Place.GROUP else cancelled
            f.line(f"if (++{tick} % 1024 == 0 && {cancelled}) break;")
        f.body(node.body)


def emit_for(f: Emitter, node: ir.For) -> None:
    """`for i in range(start, stop, step)`: bounds are evaluated once."""
    i = f.local(node.name)
    start, stop, step = f.expr(node.start), f.expr(node.stop), f.expr(node.step)
    collective = f.region is None and not has_collective(node.body)
    if isinstance(node.step, ir.Const) and node.step.value == 1 and node.name not in f.scan.assigned:
        end = f.temporary(f"{node.name} end")
        head = f"for (i64 {i} = {start}, {end} = {stop}; {i} < {end}; ++{i})"
        with sequential(f), f.block(head):
            if collective:
                f.line(f"if ({i} % {POLL_ROUNDS} == {POLL_ROUNDS - 1} && team.meet()) return;")
            f.body(node.body)
        return
    k, n, at, by = (f.temporary(f"{node.name} {word}") for word in ("round", "rounds", "at", "step"))
    with f.block(""):
        f.line(f"i64 {at} = {start}, {by} = {step};")
        head = (
            f"for (i64 {k} = 0, {n} = rounds({at}, {stop}, {by}); {k} < {n}; ++{k}, {at} = add({at}, {by}))"
        )
        with sequential(f), f.block(head):
            if collective:
                f.line(f"if ({k} % {POLL_ROUNDS} == {POLL_ROUNDS - 1} && team.meet()) return;")
            f.line(f"i64 {i} = {at};")
            f.body(node.body)


def emit_break(f: Emitter, _: ir.Break) -> None:
    """`break`."""
    f.line("break;")


def emit_continue(f: Emitter, _: ir.Continue) -> None:
    """`continue`: of a parallel loop, the end of this visit."""
    f.line("continue;" if f.loops else f"{f.leave};")


# --- arcs ------------------------------------------------------------------------------------------------------


def emit_for_neighbors(f: Emitter, node: ir.ForNeighbors) -> None:
    """`for (u, e) in out(v)`: a loop over arc numbers; of the piece, if the visit has one."""
    if node.marks is None or f.place is not Place.GROUP:
        _over_neighbors(f, node)
        return
    assert f.region is not None
    side = node.marks.value
    rows, columns = f.array(f"{side}.row_offsets"), f.array(f"{side}.column_indices")
    marks, v = f.temporary("marks"), f.local(f.region.vertex)
    with f.block(""):
        f.line(f"Marks<decltype(lanes), eid, vid> {marks}(lanes, {f.region.shelf}, {rows}, {columns}, {v});")
        _ahead(f, node, f.region, marks)
        f.line(f"{marks}.clear(lanes);")


def _ahead(f: Emitter, node: ir.ForNeighbors, region: Region, marks: str) -> None:
    """The loop over the arcs of the visit, which the group goes through as one."""
    side = node.marks
    assert side is not None
    compared = (compared_with(n, region.vertex, side) for n in walk(node))
    walked = next(found[1] for found in compared if found is not None)
    begin, end = _bounds(f, node)
    columns = f.array(f"{node.orientation.value}.column_indices")
    rows = f.array(f"{walked.value}.row_offsets")
    arcs = f.temporary("arcs")
    f.line(f"Arcs<decltype(lanes), eid, vid> {arcs}(lanes, {columns}, {rows}, {begin}, {end});")
    with sequential(f), f.block(f"for (; {arcs}.more(); {arcs}.next())"):
        f.line(f"eid {f.local(node.edge)} = {arcs}.at;")
        f.line(f"vid {f.local(node.vertex)} = {arcs}.vertex();")
        region.marks = Marked(region.vertex, side, marks, node.vertex, walked, arcs)
        f.body(node.body)
        region.marks = None


def _over_neighbors(f: Emitter, node: ir.ForNeighbors) -> None:
    region, columns = f.region, f.array(f"{node.orientation.value}.column_indices")
    e = f.local(node.edge)
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
            head = f"for (eid {e} = begin + lanes.rank(); {e} < end; {e} += lanes.size)"
    else:
        walk_row(f, node, columns)
        return
    with sequential(f), f.block(head):
        far_end(f, node, columns)
        f.body(node.body)


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
    head = f"for (eid {e} = {begin} + lanes.rank(); {e} < {end}; {e} += lanes.size)"
    with f.at(Place.THREAD), sequential(f), f.block(head):
        far_end(f, node, columns)
        f.body(node.body)
    _combine(f, sums)


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
    rows = f.array(f"{node.orientation.value}.row_offsets")
    v = f.local(region.vertex) if own else f.define(VID, "of", f.expr(node.of))
    begin, end = (f.temporary(f"{node.edge} {word}") for word in ("begin", "end"))
    f.line(f"eid {begin} = fixed(&{rows}[{v}]), {end} = fixed(&{rows}[{v} + 1]);")
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
        head = f"for (eid {e} = {at} + lanes.rank(); {e} < {until}; {e} += lanes.size)"
        with f.at(Place.THREAD), sequential(f), f.block(head):
            far_end(f, node, columns)
            f.body(node.body)
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
    rows = [f.array(f"{s}.row_offsets") for s in sides]
    columns = [f.array(f"{s}.column_indices") for s in sides]
    with f.block(""):
        a, b = f.define(VID, "a", f.expr(node.left)), f.define(VID, "b", f.expr(node.right))
        f.line(f"eid {i} = fixed(&{rows[0]}[{a}]), {i_end} = fixed(&{rows[0]}[{a} + 1]);")
        f.line(f"eid {j} = fixed(&{rows[1]}[{b}]), {j_end} = fixed(&{rows[1]}[{b} + 1]);")
        f.line(f"vid {last} = (vid)-1;")
        with sequential(f), f.block(f"for (; {i} < {i_end}; ++{i})"):
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
    rows, columns = f.array(f"{walked.value}.row_offsets"), f.array(f"{walked.value}.column_indices")
    if isinstance(of, ir.Var) and of.name == marked.other and walked is marked.walked:
        bounds = f"{marked.arcs}.begin()", f"{marked.arcs}.end()"
    else:
        v = f.define(VID, "of", f.expr(of))
        bounds = f"fixed(&{rows}[{v}])", f"fixed(&{rows}[{v} + 1])"
    _walk_list(f, node, marked.name, columns, bounds)


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
    bounds = f"fixed(&{rows[0]}[{walked}])", f"fixed(&{rows[0]}[{walked} + 1])"
    _walk_list(f, node, found, columns[0], bounds)


def _walk_list(f: Emitter, node: ir.ForCommon, marks: str, columns: str, bounds: tuple[str, str]) -> None:
    """The lanes walk a list in turn, and do the body for what is in `marks` too."""
    hints = ("arcs begin", "arcs end", "at", "from", "stretch", "k")
    begin, end, at, come, stretch, k = (f.temporary(hint) for hint in hints)
    w, guard = f.local(node.vertex), ends_walk(node)
    sums = _begin_sums(f, node)
    f.line(f"eid {begin} = {bounds[0]}, {end} = {bounds[1]}, {come} = {marks}.begin;")
    head = f"for (eid {at} = {begin} + lanes.rank(); {at} < {end}; {at} += TOGETHER * lanes.size)"
    with f.at(Place.THREAD), f.block(head):
        f.line(f"Stretch<decltype({marks}), vid> {stretch}({marks}, lanes, {columns}, {at}, {end});")
        f.line("#pragma unroll")
        with sequential(f), f.block(f"for (u32 {k} = 0; {k} < TOGETHER; ++{k})"):
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
    _combine(f, sums)


STATEMENTS: Final[dict[type[ir.Node], Callable[..., Any]]] = {
    ir.Let: emit_let,
    ir.Assign: emit_assign,
    ir.Accumulate: emit_accumulate,
    ir.SetGlobal: emit_set_global,
    ir.ReduceGlobal: emit_reduce_global,
    ir.Store: emit_store,
    ir.Reduce: emit_reduce,
    ir.CompareAndSwap: emit_compare_and_swap,
    ir.ScratchStore: emit_scratch_store,
    ir.ScratchClear: emit_scratch_clear,
    ir.Exchange: emit_exchange,
    ir.If: emit_if,
    ir.Alone: emit_alone,
    ir.While: emit_while,
    ir.For: emit_for,
    ir.ForNeighbors: emit_for_neighbors,
    ir.ForCommon: emit_for_common,
    ir.Break: emit_break,
    ir.Continue: emit_continue,
}

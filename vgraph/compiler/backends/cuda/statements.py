"""Emit functions of what a thread executes by itself: locals, memory, branches, sequential loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from vgraph.compiler import ir
from vgraph.compiler.analysis import placement as part
from vgraph.compiler.backends.cuda import crew
from vgraph.compiler.backends.cuda.emitter import Emitter, Place
from vgraph.compiler.backends.cuda.expressions import combined, element_number, length_of
from vgraph.compiler.backends.cuda.texts import is_bool, is_real, type_name
from vgraph.compiler.backends.scan import has_collective
from vgraph.compiler.ir.reductions import one_element
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.types import BOOL, I64, Scalar, Vector, is_long

OPERATIONS: Final = {"+": "Sum", "*": "Product", "min": "Min", "max": "Max", "|": "Or", "&": "And"}
COUNTED: Final = range(1, 1 << 16)
"""What counters in shared memory add: they notice when they have come half way round."""
POLL_ROUNDS: Final = 1 << 16
"""A driver loop without any collective passes a barrier every so many rounds, so that it can be cancelled."""


# --- locals ----------------------------------------------------------------------------------------------------


def emit_let(f: Emitter, node: ir.Let) -> None:
    """`let x: i32 = e`, unless it is carried to the visit."""
    if f.carried is not None and node is f.carried.let:
        return
    f.line(f"{type_name(node.type)} {f.local(node.name)} = {f.expr(node.value)};")


def emit_assign(f: Emitter, node: ir.Assign) -> None:
    """`x = e`, or one element of it."""
    name, element = f.local(node.name), None if f.spread else one_element(node)
    if element is None:
        f.line(f"{name} = {f.expr(node.value)};")
    else:
        at = element_number(f, element.index, length_of(element))
        f.line(f"{name}[{at}] = {f.expr(element.value)};")


def emit_accumulate(f: Emitter, node: ir.Accumulate) -> None:
    """`x += e` on a local."""
    name = f.local(node.name)
    f.line(f"{name} = {combined(node.op, name, f.expr(node.value), node.value.type)};")


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
    at = element_number(f, element.index, length_of(element))
    return f"{place}[{f.agreed_text(at, I64)}]", f.agreed(element.value)


def emit_store(f: Emitter, node: ir.Store) -> None:
    """`rank[v] = e`."""
    new = node.value
    if f.spread is not None and isinstance(new.type, Vector):
        f.line(f"put_share(lanes, {f.prop(node.prop)}[{f.expr(node.index)}], {f.expr(new)});")
        return
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
    if f.region is not None and node.prop in f.region.kept:
        f.line(f"{place} = {value};")  # every lane, so that each sees it
        return
    with f.effect():
        if node.order is ir.Order.RELAXED:
            f.line(f"put_relaxed(&{place}, {value});")
        elif (part.way_of(node.prop) or "")[:1] == ("to",):
            f.line(f"put_out(channel, &{place}, {value});")
        else:
            f.line(f"{place} = {value};")


def emit_reduce(f: Emitter, node: ir.Reduce) -> None:
    """`dist[v] min= e`, and whether it changed anything."""
    if f.region is not None and f.region.tile and (own := f.region.tile.reduce(f, node)):
        f.line(f"if ({own}) {f.local(node.changed)} = true;" if node.changed else f"{own};")
        return
    place, value = _written(f, node)
    place = f"&{place}"
    atomic = node.atomic or crew.adds_in_memory(f, node)
    call = f"{'atomic_reduce' if atomic else 'reduce'}<{OPERATIONS[node.op]}>"
    if f.carried is not None and node is f.carried.reduce:
        new = f.local(f.carried.new)
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
    elif looked_at(f, node):
        now = f.define(node.value.type, f"{node.prop} now", f"add_and_see({place}, {value})")
        f.seen = node.prop, node.index, now
    else:
        f.line(f"{call}({place}, {value});")


def looked_at(f: Emitter, node: ir.Reduce) -> bool:
    """Whether the next statement asks for a sum that others may change: the addition itself tells."""
    behind = f.rest[0] if f.rest else None
    t = node.value.type
    if not (
        isinstance(behind, ir.If) and node.atomic and node.op == "+" and isinstance(t, Scalar) and t != BOOL
    ):
        return False
    loads = [n for n in walk(behind.condition) if isinstance(n, ir.Load) and n.prop == node.prop]
    return any(n.index == node.index and n.order is ir.Order.RELAXED for n in loads)


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


def emit_reserve(f: Emitter, node: ir.Reserve) -> None:
    """`k = reserve count[p]`."""
    f.line(f"i64 {f.local(node.before)} = reserve(&{f.prop(node.prop)}[{f.expr(node.index)}]);")


def emit_lock(f: Emitter, node: ir.Lock) -> None:
    """`ok = lock mutex[v]`: by one thread, which never waits, so that it cannot keep its warp from giving it back."""
    taken = f"take_lock(&{f.prop(node.prop)}[{f.expr(node.index)}])"
    if f.place is Place.GROUP:
        f.line(f"{f.local(node.ok)} = lanes.same(lanes.leads() && {taken});")
        f.line("lanes.wait();")
    else:
        f.line(f"{f.local(node.ok)} = {taken};")


def emit_unlock(f: Emitter, node: ir.Unlock) -> None:
    """`unlock mutex[v]`: when all of a group have written."""
    if f.place is Place.GROUP:
        f.line("lanes.wait();")
    with f.effect():
        f.line(f"give_lock(&{f.prop(node.prop)}[{f.expr(node.index)}]);")


def emit_scratch_store(f: Emitter, node: ir.ScratchStore) -> None:
    """`scratch count[v] = e`: what was zero is noted."""
    name = f.names.of("scratch", node.prop)
    t = type_name(f.program.property(node.prop).type)
    f.line(f"note<{t}>({name}, {_notes(f, node.prop)}, {f.expr(node.index)}, {f.expr(node.value)});")


def _notes(f: Emitter, prop: str) -> str:
    names = f.names.of("touched", prop), f.names.of("noted", prop), f.num_vertices
    return ", ".join(names)


# --- control ---------------------------------------------------------------------------------------------------


def emit_if(f: Emitter, node: ir.If) -> None:
    """`if c { ... } else { ... }`."""
    condition, f.seen = f.expr(node.condition), None
    with f.block(f"if ({condition})", "}" if not node.other else ""):
        f.body(node.then)
    if node.other:
        f.lines.pop()
        with f.block("} else"):
            f.body(node.other)


def emit_while(f: Emitter, node: ir.While) -> None:
    """`while c { ... }`."""
    tick = ""
    if f.region is not None or not has_collective(node.body):
        tick = f.temporary("rounds")
        f.line(f"u32 {tick} = 0;")
    with f.sequential(), f.block(f"while ({f.expr(node.condition)})"):
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
    collective = f.region is None and not has_collective(node.body) and not _short(node)
    if isinstance(node.step, ir.Const) and node.step.value == 1 and node.name not in f.scan.assigned:
        end = f.temporary(f"{node.name} end")
        head = f"for (i64 {i} = {start}, {end} = {stop}; {i} < {end}; ++{i})"
        with f.sequential(), f.block(head):
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
        with f.sequential(), f.block(head):
            if collective:
                f.line(f"if ({k} % {POLL_ROUNDS} == {POLL_ROUNDS - 1} && team.meet()) return;")
            f.line(f"i64 {i} = {at};")
            f.body(node.body)


def _short(node: ir.For) -> bool:
    """Whether there are too few turns to ask whether the run is to stop."""
    match node.stop:
        case (
            ir.Const(int(most))
            | ir.Binary("min", ir.Const(int(most)))
            | ir.Binary("min", _, ir.Const(int(most)))
        ):
            return node.start == ir.Const(0, I64) and node.step == ir.Const(1, I64) and most <= POLL_ROUNDS
    return False


PLAIN: Final[dict[type[ir.Stmt], Callable[[Emitter, Any], None]]] = {
    ir.SetGlobal: lambda f, n: f.line(f"{f.global_(n.name)} = {f.expr(n.value)};"),
    ir.ScratchClear: lambda f, n: f.line(f"forget({f.names.of('scratch', n.prop)}, {_notes(f, n.prop)});"),
    ir.Exchange: lambda f, n: f.line(f"swap_arrays({f.prop(n.left)}, {f.prop(n.right)});"),
    ir.Break: lambda f, n: f.line("break;"),
    ir.Continue: lambda f, n: f.line("continue;" if f.loops else f"{f.leave};"),
    # A barrier of the grid is cheap beside what one thread of it does, so all take part.
    ir.Alone: lambda f, n: f.body(n.body),
}
"""What a statement is of its operands' texts. Globals and addresses: every thread has its copies."""

"""Property arrays: addresses, loads, stores, reductions and compare-and-swap, plain and atomic."""

from __future__ import annotations

from collections.abc import Callable

from vgraph.compiler import ir
from vgraph.compiler.backends.llvm import arithmetic
from vgraph.compiler.backends.llvm.emitter import Binding, Emitter
from vgraph.compiler.backends.llvm.values import Value, is_bool, is_float
from vgraph.compiler.ir.reductions import one_element
from vgraph.compiler.types import I32, I64, VID, Scalar, Type, Vector, element_of, is_long


def element_address(f: Emitter, prop: str, index: str, t: Type) -> str:
    """The address of one element of a property; `index` is a non-negative i64."""
    if isinstance(t, Vector):
        unit = f"[{t.length} x {f.types.memory(t.element)}]"
    else:
        unit = f.types.memory(t)
    shift = f.shifts.get(prop)
    if shift is not None:
        return f.op(
            f"getelementptr inbounds {unit}, ptr {f.pointers[prop]}, i64 {f.op(f'add i64 {index}, {shift}')}"
        )
    return f.item(unit, f.pointers[prop], index)


def element_number(f: Emitter, index: ir.Expr, t: Vector) -> str:
    """Which element of a vector an index means: it is taken modulo the length."""
    if isinstance(index, ir.Const):
        return str(int(index.value) % t.length)
    return arithmetic.binary(f, "%", f.i64(index), str(t.length), I64)


def _element(f: Emitter, node: ir.Store | ir.Reduce, written: ir.Insert) -> tuple[str, Value]:
    """The address and the new value of the one element of a vector that is written."""
    t = written.type
    assert isinstance(t, Vector)
    value, at = f.expr(written.value), element_number(f, written.index, t)
    address = element_address(f, node.prop, f.index(f.expr(node.index)), t)
    return f.item(f.types.memory(t.element), address, at), value


def load_at(f: Emitter, address: str, t: Type, scope: str, relaxed: bool = False) -> str:
    """Load a value of type `t`; a relaxed vector is loaded whole (each element is still read once)."""
    name, atomic = f.types.memory(t), relaxed and isinstance(t, Scalar)
    align = _alignment(f, t, atomic)
    text = f"load {'atomic ' if atomic else ''}{name}, ptr {address}{' monotonic' if atomic else ''}"
    value = f.op(f"{text}, align {align}{f.alias(scope)}")
    return f.op(f"trunc {name} {value} to {f.types.register(t)}") if is_bool(t) else value


def store_at(f: Emitter, address: str, value: str, t: Type, scope: str, relaxed: bool = False) -> None:
    """Store a value of type `t`."""
    name = f.types.memory(t)
    if is_bool(t):
        value = to_memory(f, value, t)
    atomic = relaxed and isinstance(t, Scalar)
    align = _alignment(f, t, atomic)
    text = f"store {'atomic ' if atomic else ''}{name} {value}, ptr {address}{' monotonic' if atomic else ''}"
    f.do(f"{text}, align {align}{f.alias(scope)}")


def _alignment(f: Emitter, t: Type, atomic: bool) -> int:
    """Bytes by which a value is aligned: words of 16 are so in properties only, where they are swapped in one step."""
    size = f.types.size(element_of(t))
    return size if atomic else min(size, 8)


def to_memory(f: Emitter, value: str, t: Type) -> str:
    """The form of a register value that is stored: bools become bytes."""
    return f.op(f"zext {f.types.register(t)} {value} to {f.types.memory(t)}") if is_bool(t) else value


def emit_loaded_element(f: Emitter, node: ir.Load, index: ir.Expr) -> Value:
    """`x[v][[i]]` of a long vector."""
    t = node.type
    assert isinstance(t, Vector)
    address = element_address(f, node.prop, f.index(f.expr(node.index)), t)
    place = f.item(f.types.memory(t.element), address, element_number(f, index, t))
    return Value(load_at(f, place, t.element, node.prop, node.order is ir.Order.RELAXED), t.element)


def emit_load(f: Emitter, node: ir.Load) -> Value:
    """`dist[v]`."""
    address = element_address(f, node.prop, f.index(f.expr(node.index)), node.type)
    return Value(load_at(f, address, node.type, node.prop, node.order is ir.Order.RELAXED), node.type)


def emit_lookup(f: Emitter, node: ir.Lookup) -> Value:
    """`lookup table[i; 0:i32]`: without a branch, for what is outside is read from a word on the stack."""
    at, inside = "", ""
    for index, name in zip(node.indices, ("length", "columns"), strict=False):
        i, size = f.i64(index), f'%"{name}.{node.prop}"'
        from_end = f.op(f"add i64 {i}, {size}")
        k = f.op(f"select i1 {f.op(f'icmp slt i64 {i}, 0')}, i64 {from_end}, i64 {i}")
        fits = f.op(f"icmp ult i64 {k}, {size}")
        at = f.op(f"add i64 {f.op(f'mul i64 {at}, {size}')}, {k}") if at else k
        inside = f.op(f"and i1 {inside}, {fits}") if inside else fits
    memory, other = f.types.memory(node.type), f.expr(node.other).text
    outside = f.slot(memory, "outside")
    f.entry.append(f"  store {memory} {int(other == 'true') if is_bool(node.type) else other}, ptr {outside}")
    place = f.op(f"select i1 {inside}, ptr {f.item(memory, f.pointers[node.prop], at)}, ptr {outside}")
    return Value(load_at(f, place, node.type, node.prop), node.type)


def emit_store(f: Emitter, node: ir.Store) -> None:
    """`dist[v] = e`."""
    element = one_element(node)
    if element is not None:
        address, value = _element(f, node, element)
        store_at(f, address, value.text, value.type, node.prop, node.order is ir.Order.RELAXED)
        return
    t = node.value.type
    if isinstance(t, Vector) and is_long(t) and _put_long(f, node, t):
        return
    value = f.expr(node.value)
    address = element_address(f, node.prop, f.index(f.expr(node.index)), value.type)
    store_at(f, address, value.text, value.type, node.prop, node.order is ir.Order.RELAXED)


def _put_long(f: Emitter, node: ir.Store, t: Vector) -> bool:
    """Store a long vector without bringing it into registers: one number everywhere, or what another has."""
    new = node.value
    one = repeated(new)
    if one is None and not isinstance(new, ir.Load):
        return False
    address = element_address(f, node.prop, f.index(f.expr(node.index)), t)
    if one is not None:
        fill_elements(f, address, t, to_memory(f, f.expr(one).text, t.element))
    else:
        assert isinstance(new, ir.Load)
        source = element_address(f, new.prop, f.index(f.expr(new.index)), t)
        size = t.length * f.types.size(t.element)
        f.call("void", "llvm.memcpy.p0.p0.i64", f"ptr {address}", f"ptr {source}", f"i64 {size}", "i1 false")
    return True


def repeated(e: ir.Expr) -> ir.Expr | None:
    """The number that is each element of a vector."""
    return e.operand if isinstance(e, ir.Cast) and not isinstance(e.operand.type, Vector) else None


def fill_elements(f: Emitter, address: str, t: Vector, text: str) -> None:
    """Store one number, as it looks in memory, into all elements of a vector, however many there are."""
    cell, before, head = f.types.memory(t.element), f.block, f.label("fill")
    f.start(head)
    f.lines.append(f"  %k.{head} = phi i64 [ 0, %{before} ], [ %n.{head}, %{head} ]")
    f.do(f"store {cell} {text}, ptr {f.item(cell, address, f'%k.{head}')}")
    f.do(f"%n.{head} = add nuw nsw i64 %k.{head}, 1")
    f.jump_unless(f.op(f"icmp eq i64 %n.{head}, {t.length}"), head)


# --- reductions ---------------------------------------------------------------------------------------------


def emit_reduce(f: Emitter, node: ir.Reduce) -> None:
    """`dist[v] min= e`, and whether it changed anything."""
    changed = f.locals[node.changed] if node.changed is not None else None
    element = one_element(node)
    if element is not None:
        address, value = _element(f, node, element)
        _reduce_element(f, node, address, value, changed)
        return
    value = f.expr(node.value)
    address = element_address(f, node.prop, f.index(f.expr(node.index)), value.type)
    if not isinstance(value.type, Vector):
        _reduce_element(f, node, address, value, changed)
    elif node.atomic or (changed is not None and node.op in ir.MONOTONE):
        _each_element(f, address, value, lambda a, v: _reduce_element(f, node, a, v, changed))
    else:
        _reduce_always(f, node.op, address, value, node.prop)
        _mark(f, changed)


def _each_element(f: Emitter, address: str, value: Value, action: Callable[[str, Value], None]) -> None:
    """A loop over the elements of a vector in memory and in a register."""
    t = value.type
    assert isinstance(t, Vector)
    before, head = f.block, f.label("element")
    latch = f.label("element.next")
    f.start(head)
    f.lines.append(f"  %k.{head} = phi i64 [ 0, %{before} ], [ %n.{head}, %{latch} ]")
    place = f.item(f.types.memory(t.element), address, f"%k.{head}")
    action(place, Value(f.op(f"extractelement {f.types.register(t)} {value.text}, i64 %k.{head}"), t.element))
    f.start(latch)
    f.do(f"%n.{head} = add nuw nsw i64 %k.{head}, 1")
    f.jump_unless(f.op(f"icmp eq i64 %n.{head}, {t.length}"), head)


def _reduce_element(f: Emitter, node: ir.Reduce, address: str, value: Value, changed: Binding | None) -> None:
    atomic = node.atomic and not f.serial
    if node.op in ir.MONOTONE and (atomic or changed is not None):
        _reduce_if_better(f, node, address, value, changed, atomic)
    elif atomic:
        _reduce_atomic(f, node, address, value)
        _mark(f, changed)
    else:
        _reduce_always(f, node.op, address, value, node.prop)
        _mark(f, changed)


def _mark(f: Emitter, changed: Binding | None) -> None:
    if changed is not None:
        f.do(f"store i1 true, ptr {changed.pointer}")


def _reduce_always(f: Emitter, op: str, address: str, value: Value, scope: str) -> None:
    old = load_at(f, address, value.type, scope)
    new = combine(f, op, old, value.text, value.type)
    store_at(f, address, new, value.type, scope)


def combine(f: Emitter, op: str, a: str, b: str, t: Type) -> str:
    """One step of a reduction; float sums and products may be reordered, unless the program says otherwise."""
    return arithmetic.binary(f, op, a, b, t, arithmetic.freedom(f))


def _reduce_atomic(f: Emitter, node: ir.Reduce, address: str, value: Value) -> None:
    """+ and * where threads may meet."""
    t, alias = value.type, f.alias(node.prop)
    align = f.types.size(element_of(t))
    if node.op == "+" and not is_bool(t):
        op = "fadd" if is_float(t) else "add"
        f.op(
            f"atomicrmw {op} ptr {address}, {f.types.memory(t)} {value.text} monotonic, align {align}{alias}"
        )
    elif is_bool(t):
        op = "or" if node.op == "+" else "and"
        f.op(f"atomicrmw {op} ptr {address}, i8 {to_memory(f, value.text, t)} monotonic, align 1{alias}")
    else:
        _exchange_loop(f, address, t, node.prop, lambda seen: combine(f, node.op, seen, value.text, t))


def _reduce_if_better(
    f: Emitter, node: ir.Reduce, address: str, value: Value, changed: Binding | None, atomic: bool
) -> None:
    """min, max, |, &: look first; write only what changes the place."""
    t, done = value.type, f.label("reduced")
    op = {"min": "&", "max": "|"}.get(node.op, node.op) if is_bool(t) else node.op
    if not atomic:
        old = load_at(f, address, t, node.prop)
        new = _branch_if_better(f, op, old, value, done)
        store_at(f, address, new, t, node.prop)
        _mark(f, changed)
    elif op in ("|", "&"):
        old = load_at(f, address, t, node.prop, relaxed=True)
        _branch_if_better(f, op, old, value, done)
        name = f.types.memory(t)
        text = to_memory(f, value.text, t)
        word = "or" if op == "|" else "and"
        seen = f.op(
            f"atomicrmw {word} ptr {address}, {name} {text} monotonic, align {f.types.size(element_of(t))}"
            f"{f.alias(node.prop)}"
        )
        if changed is not None:
            seen = f.op(f"trunc {name} {seen} to {f.types.register(t)}") if is_bool(t) else seen
            _branch_if_better(f, op, seen, value, done)
            _mark(f, changed)
    else:
        _exchange_loop(f, address, t, node.prop, lambda seen: _branch_if_better(f, op, seen, value, done))
        _mark(f, changed)
    f.start(done)


def _branch_if_better(f: Emitter, op: str, old: str, value: Value, done: str) -> str:
    """Go to `done` unless the reduction would change `old`; returns the new value."""
    t = value.type
    name = f.types.register(t)
    if op in ("|", "&"):
        new = arithmetic.binary(f, op, old, value.text, t)
        f.jump_if(f.op(f"icmp eq {name} {new}, {old}"), done)
        return new
    if not is_float(t):
        f.jump_unless(arithmetic.compare(f, "<" if op == "min" else ">", value.text, old, t), done)
        return value.text
    predicate = "ult" if op == "min" else "ugt"
    f.jump_unless(f.op(f"fcmp {predicate} {name} {value.text}, {old}"), done)
    # smaller, or a NaN among the two: a NaN in memory stays, a NaN that comes is put there
    f.jump_unless(f.op(f"fcmp ord {name} {old}, {old}"), done)
    return value.text


def _exchange_loop(f: Emitter, address: str, t: Type, scope: str, update: Callable[[str], str]) -> None:
    """Compare-and-swap until it holds; `update(seen)` gives the new value, or leaves."""
    bits = f"i{8 * f.types.size(element_of(t))}"
    first = as_bits(f, load_at(f, address, t, scope, relaxed=True), t)
    before, head, won, again = f.block, f.label("try"), f.label("won"), f.label("lost")
    f.start(head)
    f.lines.append(f"  %s.{head} = phi {bits} [ {first}, %{before} ], [ %o.{head}, %{again} ]")
    new = as_bits(f, update(from_bits(f, f"%s.{head}", t)), t)
    pair = f.op(
        f"cmpxchg weak ptr {address}, {bits} %s.{head}, {bits} {new} monotonic monotonic, "
        f"align {f.types.size(element_of(t))}{f.alias(scope)}"
    )
    f.branch(f.op(f"extractvalue {{ {bits}, i1 }} {pair}, 1"), won, again)
    f.start(again)
    f.do(f"%o.{head} = extractvalue {{ {bits}, i1 }} {pair}, 0")
    f.jump(head)
    f.start(won)


def as_bits(f: Emitter, value: str, t: Type) -> str:
    """A scalar as the integer of its memory bits."""
    if is_float(t):
        return f.op(f"bitcast {f.types.register(t)} {value} to i{element_of(t).bits}")
    return to_memory(f, value, t)


def from_bits(f: Emitter, value: str, t: Type) -> str:
    """The inverse of `as_bits`."""
    if is_float(t):
        return f.op(f"bitcast i{element_of(t).bits} {value} to {f.types.register(t)}")
    return f.op(f"trunc i8 {value} to i1") if is_bool(t) else value


# --- compare and swap ---------------------------------------------------------------------------------------


def emit_compare_and_swap(f: Emitter, node: ir.CompareAndSwap) -> None:
    """`ok = cas parent[v] from e with f`: looks with a plain load first, for most attempts fail there."""
    expected, value = f.expr(node.expected), f.expr(node.value)
    t = value.type
    assert isinstance(t, Scalar)
    atomic = node.atomic and not f.serial
    address = element_address(f, node.prop, f.index(f.expr(node.index)), t)
    ok = f.locals[node.ok].pointer
    old = load_at(f, address, t, node.prop, relaxed=atomic)
    f.do(f"store i1 false, ptr {ok}")
    with f.when(arithmetic.compare(f, "==", old, expected.text, t), "attempt"):
        if atomic:
            bits = f"i{8 * f.types.size(t)}"
            pair = f.op(
                f"cmpxchg ptr {address}, {bits} {as_bits(f, old, t)}, {bits} {as_bits(f, value.text, t)} "
                f"monotonic monotonic, align {f.types.size(t)}{f.alias(node.prop)}"
            )
            f.do(f"store i1 {f.op(f'extractvalue {{ {bits}, i1 }} {pair}, 1')}, ptr {ok}")
        else:
            store_at(f, address, value.text, t, node.prop)
            f.do(f"store i1 true, ptr {ok}")


def emit_reserve(f: Emitter, node: ir.Reserve) -> None:
    """`k = reserve count[p]`."""
    address = element_address(f, node.prop, f.index(f.expr(node.index)), I64)
    if f.serial:
        before = load_at(f, address, I64, node.prop)
        store_at(f, address, f.op(f"add i64 {before}, 1"), I64, node.prop)
    else:
        before = f.op(f"atomicrmw add ptr {address}, i64 1 monotonic, align 8{f.alias(node.prop)}")
    f.declare(node.before, Value(before, I64))


# --- locks --------------------------------------------------------------------------------------------------


def emit_lock(f: Emitter, node: ir.Lock) -> None:
    """`ok = lock mutex[v]`: looks with a plain load first. A thread that is alone has every lock."""
    ok = f.locals[node.ok].pointer
    if f.serial:
        f.do(f"store i1 true, ptr {ok}")
        return
    address = element_address(f, node.prop, f.index(f.expr(node.index)), I32)
    free = f.op(f"icmp eq i32 {load_at(f, address, I32, node.prop, relaxed=True)}, 0")
    f.do(f"store i1 false, ptr {ok}")
    with f.when(free, "attempt"):
        pair = f.op(f"cmpxchg ptr {address}, i32 0, i32 1 acquire monotonic, align 4{f.alias(node.prop)}")
        f.do(f"store i1 {f.op(f'extractvalue {{ i32, i1 }} {pair}, 1')}, ptr {ok}")


def emit_unlock(f: Emitter, node: ir.Unlock) -> None:
    """`unlock mutex[v]`."""
    if not f.serial:
        address = element_address(f, node.prop, f.index(f.expr(node.index)), I32)
        f.do(f"store atomic i32 0, ptr {address} release, align 4{f.alias(node.prop)}")


def emit_fill(f: Emitter, node: ir.Fill) -> None:
    """`fill dist = e`: each thread fills its part."""
    from vgraph.compiler.backends.llvm.parallel import barrier, my_part

    declaration = f.program.property(node.prop)
    size = {ir.Site.VERTEX: "%num_vertices", ir.Site.EDGE: "%num_arcs", ir.Site.EDGE_IN: "%num_arcs"}.get(
        declaration.site, f'%"length.{node.prop}"'
    )
    t = declaration.type
    one = repeated(node.value) if is_long(t) and node.value is not None else None
    if isinstance(t, Vector) and one is not None:
        number = to_memory(f, f.expr(one).text, t.element)
        with my_part(f, size) as i:
            fill_elements(f, element_address(f, node.prop, i, t), t, number)
        barrier(f)
        return
    value = arithmetic.cast(f, f.expr(node.value), t).text if node.value is not None else None
    with my_part(f, size) as i:
        text = value
        if text is None:
            text = arithmetic.cast(f, f.narrow(i, VID), t).text
        store_at(f, element_address(f, node.prop, i, t), text, t, node.prop)
    barrier(f)

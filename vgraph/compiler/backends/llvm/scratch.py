"""Scratch properties: memory of each thread's own, all zero between visits.

A thread notes which elements it makes nonzero, so that the end of a visit clears only those; a visit that notes as
many as there are vertices clears everything.
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.backends.llvm import memory
from vgraph.compiler.backends.llvm.emitter import UNLIKELY, Emitter
from vgraph.compiler.backends.llvm.loops import counted
from vgraph.compiler.backends.llvm.values import Value, is_bool, is_float
from vgraph.compiler.types import Scalar


def declare(f: Emitter, kind: str, name: str, base: str) -> None:
    """Find this thread's part of the memory at `base`."""
    size = f.types.size(_type(f, name)) if kind == "scratch" else f.types.target.id_bits // 8
    row = f.op(f"mul i64 {f.op(f'mul i64 %num_vertices, {size}')}, %thread")
    f.pointers[f"{kind} {name}"] = f.op(f"getelementptr inbounds i8, ptr {base}, i64 {row}")
    if kind == "scratch":
        f.pointers[f"noted {name}"] = slot = f.slot("i64", "noted")
        f.do(f"store i64 0, ptr {slot}")


def _type(f: Emitter, prop: str) -> Scalar:
    t = f.program.property(prop).type
    assert isinstance(t, Scalar)
    return t


def _address(f: Emitter, prop: str, index: str) -> str:
    t = f.types.memory(_type(f, prop))
    return f.item(t, f.pointers[f"scratch {prop}"], index)


def emit_scratch_load(f: Emitter, node: ir.ScratchLoad) -> Value:
    """`scratch count[v]`."""
    address = _address(f, node.prop, f.index(f.expr(node.index)))
    return Value(memory.load_at(f, address, node.type, node.prop), node.type)


def emit_scratch_store(f: Emitter, node: ir.ScratchStore) -> None:
    """`scratch count[v] = e`: what was zero is noted."""
    value = f.expr(node.value)
    t, index = _type(f, node.prop), f.index(f.expr(node.index))
    address = _address(f, node.prop, index)
    old = memory.load_at(f, address, t, node.prop)
    memory.store_at(f, address, value.text, t, node.prop)
    register = f.types.register(t)
    if is_bool(t):
        fresh = f.op(f"xor i1 {old}, true")
    elif is_float(t):
        bits = f"i{8 * f.types.size(t)}"
        fresh = f.op(f"icmp eq {bits} {f.op(f'bitcast {register} {old} to {bits}')}, 0")
    else:
        fresh = f.op(f"icmp eq {register} {old}, 0")
    done = f.label("noted")
    f.jump_unless(fresh, done)
    slot = f.pointers[f"noted {node.prop}"]
    n = f.op(f"load i64, ptr {slot}")
    f.jump_if(f.op(f"icmp eq i64 {n}, %num_vertices"), done, UNLIKELY)
    vertex = index if f.types.id == "i64" else f.op(f"trunc i64 {index} to {f.types.id}")
    f.write(f.types.id, f.pointers[f"touched {node.prop}"], n, vertex, "touched")
    f.do(f"store i64 {f.op(f'add nuw nsw i64 {n}, 1')}, ptr {slot}")
    f.start(done)


def emit_scratch_clear(f: Emitter, node: ir.ScratchClear) -> None:
    """`clear scratch count`."""
    t = _type(f, node.prop)
    slot = f.pointers[f"noted {node.prop}"]
    n = f.op(f"load i64, ptr {slot}")
    done = f.label("cleared")
    with f.when(f.op(f"icmp eq i64 {n}, %num_vertices"), "wipe", UNLIKELY):
        size = f.op(f"mul i64 %num_vertices, {f.types.size(t)}")
        base = f.pointers[f"scratch {node.prop}"]
        f.call("void", "llvm.memset.p0.i64", f"ptr {base}", "i8 0", f"i64 {size}", "i1 false")
        f.jump(done)

    def clear(i: str, _: str, __: str) -> None:
        vertex = f.widen(f.read(f.types.id, f.pointers[f"touched {node.prop}"], i, "touched"))
        f.do(
            f"store {f.types.memory(t)} zeroinitializer, ptr {_address(f, node.prop, vertex)}{f.alias(node.prop)}"
        )

    counted(f, "0", n, clear, "noted")
    f.start(done)
    f.do(f"store i64 0, ptr {slot}")

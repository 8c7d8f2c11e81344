"""Locals that are vectors of which single elements are written: arrays on the stack, each element at its address."""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.backends.llvm.emitter import Binding, Emitter
from vgraph.compiler.backends.llvm.memory import element_number, fill_elements, repeated, to_memory
from vgraph.compiler.backends.llvm.values import Value, is_bool
from vgraph.compiler.types import Vector, element_of


def declare(f: Emitter, node: ir.Let) -> None:
    """`let stack: vec<i32, 32> = e`."""
    t = node.type
    assert isinstance(t, Vector)
    pointer = f.slot(f"[{t.length} x {f.types.memory(t.element)}]", node.name)
    binding = Binding(t, pointer, array=True)
    put(f, binding, node.value)
    f.locals[node.name] = binding


def element_address(f: Emitter, binding: Binding, index: ir.Expr) -> str:
    """Where element `index`, modulo the length, lies."""
    assert isinstance(binding.type, Vector)
    at = element_number(f, index, binding.type)
    return f.item(f.types.memory(binding.type.element), binding.pointer, at)


def element(f: Emitter, binding: Binding, index: ir.Expr) -> Value:
    """`stack[[i]]`."""
    t = element_of(binding.type)
    value = f.op(f"load {f.types.memory(t)}, ptr {element_address(f, binding, index)}")
    return Value(f.op(f"trunc i8 {value} to i1") if is_bool(t) else value, t)


def put_element(f: Emitter, binding: Binding, new: ir.Insert) -> None:
    """`stack = insert(stack, i, e)`."""
    value = f.expr(new.value)
    address = element_address(f, binding, new.index)
    f.do(f"store {f.types.memory(value.type)} {to_memory(f, value.text, value.type)}, ptr {address}")


def whole(f: Emitter, binding: Binding) -> Value:
    """All elements as one value."""
    t, name = binding.type, f.types.memory(binding.type)
    value = f.op(f"load {name}, ptr {binding.pointer}, align {f.types.size(element_of(t))}")
    return Value(f.op(f"trunc {name} {value} to {f.types.register(t)}") if is_bool(t) else value, t)


def put(f: Emitter, binding: Binding, new: ir.Expr) -> None:
    """A new value of all elements."""
    t, one = binding.type, repeated(new)
    assert isinstance(t, Vector)
    if one is not None:
        fill_elements(f, binding.pointer, t, to_memory(f, f.expr(one).text, t.element))
        return
    text = to_memory(f, f.expr(new).text, t)
    f.do(f"store {f.types.memory(t)} {text}, ptr {binding.pointer}, align {f.types.size(t.element)}")

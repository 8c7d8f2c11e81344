"""Words: several scalars in one integer, ordered as they are (`arithmetic.ordered` says how each is encoded)."""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.backends.llvm.emitter import Emitter
from vgraph.compiler.backends.llvm.memory import as_bits, from_bits
from vgraph.compiler.backends.llvm.values import Value
from vgraph.compiler.types import Kind, Packed, Scalar, element_of


def emit_pack(f: Emitter, node: ir.Pack) -> Value:
    """`pack(d, v)`: the first value in the highest bits."""
    t = node.type
    assert isinstance(t, Packed)
    width, word = f.types.register(t), ""
    for item in node.items:
        value = f.expr(item)
        bits, encoded = f.types.target.width(element_of(value.type)), _ordered(f, value)
        encoded = f.op(f"zext i{bits} {encoded} to {width}") if f"i{bits}" != width else encoded
        if not word:
            word = encoded
            continue
        word = f.op(f"shl {width} {word}, {bits}")
        word = f.op(f"or disjoint {width} {word}, {encoded}")
    return Value(word, t)


def emit_field(f: Emitter, node: ir.Field) -> Value:
    """`field.0(x)`."""
    word = f.expr(node.word)
    assert isinstance(word.type, Packed)
    width, fields = f.types.register(word.type), word.type.fields
    below, bits = f.types.target.bits_of(fields[node.k + 1 :]), f.types.target.width(fields[node.k])
    found = f.op(f"lshr {width} {word.text}, {below}") if below else word.text
    found = f.op(f"trunc {width} {found} to i{bits}") if f"i{bits}" != width else found
    return Value(_in_order(f, found, fields[node.k]), fields[node.k])


def _ordered(f: Emitter, value: Value) -> str:
    """The bits of a scalar, larger the larger it is."""
    t = element_of(value.type)
    bits, found = f.types.target.width(t), as_bits(f, value.text, t)
    if t.kind is Kind.SIGNED:
        return f.op(f"xor i{bits} {found}, {-1 << bits - 1}")
    if t.kind is not Kind.FLOAT:
        return found
    nan = 0x7FC00000 if bits == 32 else 0x7FF8000000000000
    unordered = f.op(f"fcmp uno {f.types.register(t)} {value.text}, {value.text}")
    found = f.op(f"select i1 {unordered}, i{bits} {nan}, i{bits} {found}")
    negative = f.op(f"ashr i{bits} {found}, {bits - 1}")
    return f.op(f"xor i{bits} {found}, {f.op(f'or i{bits} {negative}, {-1 << bits - 1}')}")


def _in_order(f: Emitter, found: str, t: Scalar) -> str:
    """The scalar of which `found` is what `_ordered` gives."""
    bits = f.types.target.width(t)
    if t.kind is Kind.SIGNED:
        return f.op(f"xor i{bits} {found}, {-1 << bits - 1}")
    if t.kind is not Kind.FLOAT:
        return from_bits(f, found, t)
    positive = f.op(f"ashr i{bits} {found}, {bits - 1}")
    negative = f.op(f"xor i{bits} {positive}, -1")
    flip = f.op(f"or i{bits} {negative}, {-1 << bits - 1}")
    return from_bits(f, f.op(f"xor i{bits} {found}, {flip}"), t)

"""f16 and f32: by the host's instructions, else by integers, with the same bits."""

from __future__ import annotations

from vgraph.compiler.backends import jit
from vgraph.compiler.backends.llvm.emitter import Emitter
from vgraph.compiler.backends.llvm.values import with_element
from vgraph.compiler.types import F16, F32, U32, Type, Vector, element_of


def convert(f: Emitter, text: str, to: Type) -> str:
    """An f32 as the bits of the nearest f16, of two the even one; or these as an f32."""
    narrow = element_of(to) == F16
    if not jit.converts_halves():
        return _narrowed(f, text, to) if narrow else _widened(f, text, to)
    bits, wide = (f.types.register(with_element(to, t)) for t in (F16, F32))
    half = f"<{to.length} x half>" if isinstance(to, Vector) else "half"
    if narrow:
        return f.op(f"bitcast {half} {f.op(f'fptrunc {wide} {text} to {half}')} to {bits}")
    return f.op(f"fpext {half} {f.op(f'bitcast {bits} {text} to {half}')} to {wide}")


class _Words:
    """Operations on the bits of f32s in the shape of a type."""

    def __init__(self, f: Emitter, t: Type) -> None:
        self.f, self.t = f, with_element(t, U32)
        self.word, self.real, self.half = (f.types.register(with_element(t, x)) for x in (U32, F32, F16))

    def number(self, value: int) -> str:
        return self.f.types.constant(value, self.t)

    def op(self, op: str, a: str, b: int | str) -> str:
        return self.f.op(f"{op} {self.word} {a}, {b if isinstance(b, str) else self.number(b)}")

    def of_reals(self, op: str, a: str, bits: int) -> str:
        """`op` of the f32s with these bits."""
        x, y = (self.f.op(f"bitcast {self.word} {e} to {self.real}") for e in (a, self.number(bits)))
        return self.f.op(f"bitcast {self.real} {self.f.op(f'{op} {self.real} {x}, {y}')} to {self.word}")

    def where_below(self, a: str, limit: int, then: str, other: str) -> str:
        flags = self.word.replace("i32", "i1")
        test = self.op("icmp ult", a, limit)
        return self.f.op(f"select {flags} {test}, {self.word} {then}, {self.word} {other}")


def _widened(f: Emitter, text: str, to: Type) -> str:
    w = _Words(f, to)
    bits = f.op(f"zext {w.half} {text} to {w.word}")
    size = w.op("shl", w.op("and", bits, 0x7FFF), 13)
    scaled = w.of_reals("fmul", size, 0x77800000)  # by 2**112, between the two exponents
    kept = w.where_below(size, 0x7C00 << 13, scaled, w.op("or", size, 0x7F800000))
    whole = w.op("or", kept, w.op("shl", w.op("and", bits, 0x8000), 16))
    return f.op(f"bitcast {w.word} {whole} to {w.real}")


def _narrowed(f: Emitter, text: str, to: Type) -> str:
    w = _Words(f, to)
    bits = f.op(f"bitcast {w.real} {text} to {w.word}")
    size = w.op("and", bits, 0x7FFFFFFF)
    odd = w.op("and", w.op("lshr", size, 13), 1)
    normal = w.op("lshr", w.op("add", w.op("add", size, odd), 0xC8000FFF), 13)
    half = 0x3F000000  # 0.5 ends with the last bit of the smallest f16
    small = w.op("sub", w.of_reals("fadd", size, half), half)
    quiet = w.op("or", w.op("and", w.op("lshr", size, 13), 0x3FF), 0x7E00)
    large = w.where_below(size, 0x7F800001, w.number(0x7C00), quiet)
    kept = w.where_below(size, 0x38800000, small, w.where_below(size, 0x477FF000, normal, large))
    whole = w.op("or", kept, w.op("lshr", w.op("and", bits, 0x80000000), 16))
    return f.op(f"trunc {w.word} {whole} to {w.half}")

"""Functions of arithmetic that are too long to write out at each use: emitted once per kernel, on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vgraph.compiler.philox import INCREMENTS, MULTIPLIERS, ROUNDS
from vgraph.compiler.types import Type, Vector, element_of

if TYPE_CHECKING:
    from vgraph.compiler.backends.llvm.emitter import Emitter


def call(f: Emitter, name: str, a: str, b: str, t: Type) -> str:
    """Call helper `name` on two values of type `t`, element by element for vectors."""
    element = f.types.register(element_of(t))
    suffix = f.types.suffix(element_of(t))
    function = f"vg.{name}.{suffix}"
    if function not in f.helpers:
        f.helpers[function] = (
            _TEXTS[name].replace("<F>", function).replace("<T>", element).replace("<S>", suffix)
        )
        for intrinsic in _INTRINSICS.get(name, ()):
            f.declarations.add(intrinsic.replace("<T>", element).replace("<S>", suffix))
    if not isinstance(t, Vector):
        return f.op(f"call {element} @{function}({element} {a}, {element} {b})")
    vector, result = f.types.register(t), "poison"
    for k in range(t.length):
        x = f.op(f"extractelement {vector} {a}, i64 {k}")
        y = f.op(f"extractelement {vector} {b}, i64 {k}")
        value = f.op(f"call {element} @{function}({element} {x}, {element} {y})")
        result = f.op(f"insertelement {vector} {result}, {element} {value}, i64 {k}")
    return result


def bisect(f: Emitter, columns: str, begin: str, end: str, vertex: str) -> str:
    """Whether `vertex` is among the ascending ids of an array from place `begin` to before `end`."""
    t = f.types.id
    f.helpers.setdefault("vg.bisect", _BISECT.replace("<T>", t))
    return f.op(f"call i1 @vg.bisect(ptr {columns}, i64 {begin}, i64 {end}, {t} {vertex})")


def philox(f: Emitter, key: str, low: str, high: str) -> str:
    """Call the generator of random numbers: 64 bits for a counter of 128."""
    f.helpers.setdefault("vg.philox", _philox())
    return f.op(f"call i64 @vg.philox(i64 {key}, i64 {low}, i64 {high})")


def _philox() -> str:
    """The text of `philox.philox4x32`: all words are i64 below 2**32, each in a register of its round."""
    lines = ["define internal i64 @vg.philox(i64 %key, i64 %low, i64 %high) nounwind memory(none) {"]
    halves = (("a", "b", "%low"), ("c", "d", "%high"), ("k", "m", "%key"))
    for first, second, whole in halves:
        lines += [f"  %{first}.0 = and i64 {whole}, {_WORD}", f"  %{second}.0 = lshr i64 {whole}, 32"]
    for i in range(ROUNDS):
        j = i + 1
        for word, product, n in (("a", "x", 0), ("c", "y", 1)):
            lines += [
                f"  %{product}.{i} = mul i64 %{word}.{i}, {MULTIPLIERS[n]}",
                f"  %{product}.high.{i} = lshr i64 %{product}.{i}, 32",
            ]
        lines += [
            f"  %b.keyed.{i} = xor i64 %b.{i}, %k.{i}",
            f"  %a.{j} = xor i64 %y.high.{i}, %b.keyed.{i}",
            f"  %b.{j} = and i64 %y.{i}, {_WORD}",
            f"  %d.keyed.{i} = xor i64 %d.{i}, %m.{i}",
            f"  %c.{j} = xor i64 %x.high.{i}, %d.keyed.{i}",
            f"  %d.{j} = and i64 %x.{i}, {_WORD}",
        ]
        for word, n in (("k", 0), ("m", 1)):
            lines += [
                f"  %{word}.more.{i} = add i64 %{word}.{i}, {INCREMENTS[n]}",
                f"  %{word}.{j} = and i64 %{word}.more.{i}, {_WORD}",
            ]
    lines += [
        f"  %top = shl i64 %b.{ROUNDS}, 32",
        f"  %bits = or i64 %a.{ROUNDS}, %top",
        "  ret i64 %bits",
        "}\n",
    ]
    return "\n".join(lines)


_WORD: Final = 0xFFFFFFFF
_BISECT: Final = """\
define internal i1 @vg.bisect(ptr %ids, i64 %begin, i64 %end, <T> %vertex) nounwind memory(argmem: read) {
entry:
  %count = sub i64 %end, %begin
  %some = icmp ne i64 %count, 0
  br i1 %some, label %loop, label %none
loop:
  %first = phi i64 [ %begin, %entry ], [ %first.next, %halve ]
  %left = phi i64 [ %count, %entry ], [ %left.next, %halve ]
  %several = icmp ugt i64 %left, 1
  br i1 %several, label %halve, label %last
halve:
  %half = lshr i64 %left, 1
  %middle = add nuw nsw i64 %first, %half
  %place = getelementptr inbounds <T>, ptr %ids, i64 %middle
  %id = load <T>, ptr %place
  %above = icmp ugt <T> %id, %vertex
  %first.next = select i1 %above, i64 %first, i64 %middle
  %left.next = sub nuw nsw i64 %left, %half
  br label %loop
last:
  %only = getelementptr inbounds <T>, ptr %ids, i64 %first
  %candidate = load <T>, ptr %only
  %found = icmp eq <T> %candidate, %vertex
  ret i1 %found
none:
  ret i1 false
}
"""
_POWER: Final = """\
define internal <T> @<F>(<T> %base, <T> %exponent) nounwind memory(none) {
entry:
  br label %loop
loop:
  %e = phi <T> [ %exponent, %entry ], [ %e.next, %loop ]
  %x = phi <T> [ %base, %entry ], [ %x.next, %loop ]
  %y = phi <T> [ 1, %entry ], [ %y.next, %loop ]
  %bit = and <T> %e, 1
  %odd = icmp ne <T> %bit, 0
  %product = mul <T> %y, %x
  %y.next = select i1 %odd, <T> %product, <T> %y
  %x.next = mul <T> %x, %x
  %e.next = lshr <T> %e, 1
  %more = icmp ne <T> %e.next, 0
  br i1 %more, label %loop, label %done
done:
<END>
}
"""
_SIGNED_END: Final = """\
  %negative = icmp slt <T> %exponent, 0
  %last = and <T> %exponent, 1
  %is.odd = icmp ne <T> %last, 0
  %is.one = icmp eq <T> %base, 1
  %is.minus = icmp eq <T> %base, -1
  %minus.power = select i1 %is.odd, <T> -1, <T> 1
  %small = select i1 %is.minus, <T> %minus.power, <T> 0
  %inverse = select i1 %is.one, <T> 1, <T> %small
  %result = select i1 %negative, <T> %inverse, <T> %y.next
  ret <T> %result"""

_DIVMOD: Final = """\
define internal <T> @<F>(<T> %a, <T> %b) nounwind memory(none) {
  %rest = frem <T> %a, %b
  %inexact = fcmp une <T> %rest, 0.0
  %b.negative = fcmp olt <T> %b, 0.0
  %rest.negative = fcmp olt <T> %rest, 0.0
  %differ = xor i1 %b.negative, %rest.negative
  %adjust = and i1 %inexact, %differ
<END>
}
"""
_MOD_END: Final = """\
  %moved = fadd <T> %rest, %b
  %zero = call <T> @llvm.copysign.<S>(<T> 0.0, <T> %b)
  %exact = select i1 %inexact, <T> %rest, <T> %zero
  %result = select i1 %adjust, <T> %moved, <T> %exact
  ret <T> %result"""
_FLOORDIV_END: Final = """\
  %multiple = fsub <T> %a, %rest
  %quotient = fdiv <T> %multiple, %b
  %less = fsub <T> %quotient, 1.0
  %near = select i1 %adjust, <T> %less, <T> %quotient
  %floor = call <T> @llvm.floor.<S>(<T> %near)
  %off = fsub <T> %near, %floor
  %too.low = fcmp ogt <T> %off, 0.5
  %up = fadd <T> %floor, 1.0
  %rounded = select i1 %too.low, <T> %up, <T> %floor
  %ratio = fdiv <T> %a, %b
  %zero = call <T> @llvm.copysign.<S>(<T> 0.0, <T> %ratio)
  %nonzero = fcmp une <T> %near, 0.0
  %whole = select i1 %nonzero, <T> %rounded, <T> %zero
  %by.zero = fcmp oeq <T> %b, 0.0
  %result = select i1 %by.zero, <T> %ratio, <T> %whole
  ret <T> %result"""

_TEXTS: Final = {
    "upow": _POWER.replace("<END>", "  ret <T> %y.next"),
    "ipow": _POWER.replace("<END>", _SIGNED_END),
    "mod": _DIVMOD.replace("<END>", _MOD_END),
    "floordiv": _DIVMOD.replace("<END>", _FLOORDIV_END),
}
"""Integer powers by squaring; float division and remainder as NumPy defines them."""
_INTRINSICS: Final = {
    "mod": ("declare <T> @llvm.copysign.<S>(<T>, <T>)",),
    "floordiv": ("declare <T> @llvm.copysign.<S>(<T>, <T>)", "declare <T> @llvm.floor.<S>(<T>)"),
}

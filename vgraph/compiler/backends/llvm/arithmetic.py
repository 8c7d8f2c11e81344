"""Numbers: every operator of the language on every type, scalars and vectors alike.

Integers wrap: no `nsw` or `nuw` on user arithmetic. Nothing here traps, so it may be computed ahead of time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from vgraph.compiler.backends.llvm import halves, helpers
from vgraph.compiler.backends.llvm.emitter import Emitter
from vgraph.compiler.backends.llvm.values import Value, is_bool, is_float, is_signed, with_element
from vgraph.compiler.types import BOOL, F16, Scalar, Type, Vector, element_of

_REASSOCIATE: Final = "reassoc "

_FLOAT: Final = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_INTEGER: Final = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
_BOOL: Final = {
    "+": "or", "-": "xor", "*": "and", "//": "and", "&": "and", "|": "or", "^": "xor",
    "min": "and", "max": "or",
}  # fmt: skip
_PREDICATES: Final = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}


def freedom(f: Emitter) -> str:
    """Flags of sums that the user declared as such: their order is not defined, so they may be vectorised."""
    return "" if f.program.ordered else _REASSOCIATE


def binary(f: Emitter, op: str, a: str, b: str, t: Type, flags: str = "") -> str:
    """`a op b` on registers of type `t`; `flags` go on a float addition or product."""
    name = f.types.register(t)
    if is_float(t):
        return _float(f, op, a, b, t, flags)
    if is_bool(t):
        return _bool(f, op, a, b, name)
    if op in _INTEGER:
        return f.op(f"{_INTEGER[op]} {name} {a}, {b}")
    if op in ("min", "max"):
        return f.call(
            name, f"llvm.{'s' if is_signed(t) else 'u'}{op}.{f.types.suffix(t)}", f"{name} {a}", f"{name} {b}"
        )
    return _INTEGER_SPECIAL[op](f, op, a, b, t)


def _float(f: Emitter, op: str, a: str, b: str, t: Type, flags: str) -> str:
    name, suffix = f.types.register(t), f.types.suffix(t)
    if op in _FLOAT:
        return f.op(f"{_FLOAT[op]} {flags}{name} {a}, {b}")
    if op in ("min", "max"):
        return f.call(name, f"llvm.{op}imum.{suffix}", f"{name} {a}", f"{name} {b}")
    if op == "**":
        return f.call(name, f"llvm.pow.{suffix}", f"{name} {a}", f"{name} {b}")
    return helpers.call(f, {"//": "floordiv", "%": "mod"}[op], a, b, t)


def _bool(f: Emitter, op: str, a: str, b: str, name: str) -> str:
    """Bools as the numbers 0 and 1, the result taken as `!= 0`."""
    if op in _BOOL:
        return f.op(f"{_BOOL[op]} {name} {a}, {b}")
    if op == "<<":
        return a
    inverse = f.op(f"xor {name} {b}, {'true' if name == 'i1' else 'splat (i1 true)'}")
    if op == "**":
        return f.op(f"or {name} {a}, {inverse}")
    if op == ">>":
        return f.op(f"and {name} {a}, {inverse}")
    assert op == "%", op
    return f.op(f"and {name} {a}, {'false' if name == 'i1' else 'zeroinitializer'}")


def _constant(f: Emitter, value: int, t: Type) -> str:
    return f.types.constant(value, t)


def _booleans(f: Emitter, t: Type) -> str:
    return f.types.register(with_element(t, BOOL))


def _select(f: Emitter, condition: str, a: str, b: str, t: Type) -> str:
    name = f.types.register(t)
    return f.op(f"select {_booleans(f, t)} {condition}, {name} {a}, {name} {b}")


def _divide(f: Emitter, op: str, a: str, b: str, t: Type) -> str:
    """`//` and `%`: floor; 0 when b is 0; the smallest integer // -1 wraps, as negation does."""
    name = f.types.register(t)
    zero, one = _constant(f, 0, t), _constant(f, 1, t)
    by_zero = f.op(f"icmp eq {name} {b}, {zero}")
    if not is_signed(t):
        safe = _select(f, by_zero, one, b, t)
        result = f.op(f"{'udiv' if op == '//' else 'urem'} {name} {a}, {safe}")
        return _select(f, by_zero, zero, result, t)
    flags = _booleans(f, t)
    minus = f.op(f"icmp eq {name} {b}, {_constant(f, -1, t)}")
    special = f.op(f"or {flags} {by_zero}, {minus}")
    safe = _select(f, special, one, b, t)
    quotient = f.op(f"sdiv {name} {a}, {safe}")
    rest = f.op(f"sub {name} {a}, {f.op(f'mul {name} {quotient}, {safe}')}")
    inexact = f.op(f"icmp ne {name} {rest}, {zero}")
    signs = f.op(f"icmp slt {name} {f.op(f'xor {name} {rest}, {b}')}, {zero}")
    adjust = f.op(f"and {flags} {inexact}, {signs}")
    if op == "%":
        floored = _select(f, adjust, f.op(f"add {name} {rest}, {safe}"), rest, t)
        return _select(f, by_zero, zero, floored, t)
    down = f.op(f"sub {name} {quotient}, {f.op(f'zext {flags} {adjust} to {name}')}")
    wrapped = _select(f, minus, f.op(f"sub {name} {zero}, {a}"), down, t)
    return _select(f, by_zero, zero, wrapped, t)


def _shift(f: Emitter, op: str, a: str, b: str, t: Type) -> str:
    name = f.types.register(t)
    element = element_of(t)
    count = f.op(f"and {name} {b}, {_constant(f, f.types.target.width(element) - 1, t)}")
    right = "ashr" if is_signed(t) else "lshr"
    return f.op(f"{'shl' if op == '<<' else right} {name} {a}, {count}")


def _power(f: Emitter, op: str, a: str, b: str, t: Type) -> str:
    return helpers.call(f, "ipow" if is_signed(t) else "upow", a, b, t)


_INTEGER_SPECIAL: Final[dict[str, Callable[[Emitter, str, str, str, Type], str]]] = {
    "//": _divide, "%": _divide, "<<": _shift, ">>": _shift, "**": _power,
}  # fmt: skip


def unary(f: Emitter, op: str, a: str, t: Type) -> str:
    """`neg`, `not`, `invert`."""
    name = f.types.register(t)
    if op == "neg" and is_float(t):
        return f.op(f"fneg {name} {a}")
    if op == "neg" and not is_bool(t):
        return f.op(f"sub {name} {_constant(f, 0, t)}, {a}")
    if op == "neg":
        return a
    ones = _constant(f, 1 if is_bool(t) else -1, t)
    return f.op(f"xor {name} {a}, {ones}")


def compare(f: Emitter, op: str, a: str, b: str, t: Type) -> str:
    """A comparison: unsigned for index types and bools; with NaN only `!=` is true."""
    name, predicate = f.types.register(t), _PREDICATES[op]
    if is_float(t):
        return f.op(f"fcmp {'une' if op == '!=' else 'o' + predicate} {name} {a}, {b}")
    sign = "" if op in ("==", "!=") else "s" if is_signed(t) else "u"
    return f.op(f"icmp {sign}{predicate} {name} {a}, {b}")


# --- casts --------------------------------------------------------------------------------------------------


def cast(f: Emitter, value: Value, to: Type) -> Value:
    """Convert a value; a scalar becomes a vector by repetition."""
    source = value.type
    if source == to:
        return value
    if isinstance(to, Vector) and isinstance(source, Scalar):
        return Value(splat(f, cast(f, value, to.element).text, to), to)
    text = _convert(f, value.text, source, to)
    keeps = isinstance(to, Scalar) and not is_float(to) and not is_bool(to) and value.wide is not None
    wide = (
        value.wide
        if keeps and f.types.target.width(element_of(to)) >= f.types.target.width(element_of(source))
        else None
    )
    return Value(text, to, wide)


def splat(f: Emitter, text: str, t: Vector) -> str:
    """A vector with the scalar `text` in every element."""
    name, element = f.types.register(t), f.types.register(t.element)
    if not text.startswith("%"):
        return f"splat ({element} {text})"
    first = f.op(f"insertelement {name} poison, {element} {text}, i64 0")
    return f.op(f"shufflevector {name} {first}, {name} poison, <{t.length} x i32> zeroinitializer")


def _convert(f: Emitter, text: str, source: Type, to: Type) -> str:
    a, b = f.types.register(source), f.types.register(to)
    if is_bool(to):
        zero = f.types.constant(0, source)
        return f.op(f"fcmp une {a} {text}, {zero}" if is_float(source) else f"icmp ne {a} {text}, {zero}")
    if F16 in (element_of(source), element_of(to)):
        return halves.convert(f, text, to)
    if is_float(source) and is_float(to):
        return f.op(f"{'fpext' if element_of(to).bits == 64 else 'fptrunc'} {a} {text} to {b}")
    if is_float(to):
        return f.op(f"{'sitofp' if is_signed(source) else 'uitofp'} {a} {text} to {b}")
    if is_float(source):
        kind = "fptosi" if is_signed(to) else "fptoui"
        return f.call(b, f"llvm.{kind}.sat.{f.types.suffix(to)}.{f.types.suffix(source)}", f"{a} {text}")
    wide, narrow = (1 if is_bool(x) else f.types.target.width(element_of(x)) for x in (to, source))
    if wide == narrow:
        return text
    extend = "sext" if is_signed(source) else "zext"
    return f.op(f"{extend if wide > narrow else 'trunc'} {a} {text} to {b}")


_BITS: Final = {"popcount": "ctpop", "ctz": "cttz", "clz": "ctlz"}

# --- functions ----------------------------------------------------------------------------------------------


def function(f: Emitter, name: str, args: list[Value], result: Type) -> Value:
    """abs sqrt exp log floor ceil popcount ctz clz isnan isinf, dot, sum, philox."""
    if name == "philox":
        return Value(helpers.philox(f, *(a.text for a in args)), result)
    if name in ("dot", "sum"):
        return Value(_reduce(f, args, result), result)
    if name in ("isnan", "isinf"):
        return Value(_classify(f, name, args[0]), result)
    (a,) = args
    if name in _BITS:
        t = f.types.register(a.type)
        zeros = ["i1 false"] if name != "popcount" else []  # 0 has as many as there are bits
        return Value(
            f.call(t, f"llvm.{_BITS[name]}.{f.types.suffix(a.type)}", f"{t} {a.text}", *zeros), result
        )
    if not is_float(a.type) and is_float(result):
        a = cast(f, a, result)
    if is_float(a.type):
        t, intrinsic = f.types.register(a.type), "fabs" if name == "abs" else name
        text = f.call(t, f"llvm.{intrinsic}.{f.types.suffix(a.type)}", f"{t} {a.text}")
        return cast(f, Value(text, a.type), result)
    if name == "abs" and is_signed(a.type):
        t = f.types.register(a.type)
        a = Value(f.call(t, f"llvm.abs.{f.types.suffix(a.type)}", f"{t} {a.text}", "i1 false"), a.type)
    return cast(f, a, result)  # floor, ceil of integers and abs of unsigned ones change nothing


def _classify(f: Emitter, name: str, a: Value) -> str:
    t = f.types.register(a.type)
    if not is_float(a.type):
        return "false" if isinstance(a.type, Scalar) else "zeroinitializer"
    if name == "isnan":
        return f.op(f"fcmp uno {t} {a.text}, {a.text}")
    size = f.call(t, f"llvm.fabs.{f.types.suffix(a.type)}", f"{t} {a.text}")
    return f.op(f"fcmp oeq {t} {size}, {f.types.constant(float('inf'), a.type)}")


_LANES: Final = 8
_LEAF: Final = 128


def _pairwise(f: Emitter, v: str, t: Vector, begin: int, size: int) -> str:
    """The sum of `size` elements of a vector in the order in which NumPy adds them, so that every device="cpu" run of a
    plan has the reference's bits: in eight lanes, these by pairs, and what is left; of many elements by halves."""
    element = f.types.register(t.element)

    def add(name: str, a: str, b: str) -> str:
        return f.op(f"fadd {name} {a}, {b}")

    if size > _LEAF:
        half = size // 2 // _LANES * _LANES
        rest = _pairwise(f, v, t, begin + half, size - half)
        return add(element, _pairwise(f, v, t, begin, half), rest)
    whole, lanes, wide = f.types.register(t), _LANES, _LANES
    behind = begin + size // lanes * lanes
    some = [
        _shuffled(f, whole, v, range(k, k + lanes)) if t.length > lanes else v
        for k in range(begin, behind, lanes)
    ]
    total = some[0]
    for more in some[1:]:
        total = add(f"<{wide} x {element}>", total, more)
    while wide > 1:
        name, wide = f"<{wide} x {element}>", wide // 2
        even, odd = (_shuffled(f, name, total, range(k, 2 * wide, 2)) for k in (0, 1))
        total = add(f"<{wide} x {element}>", even, odd)
    total = f.op(f"extractelement <1 x {element}> {total}, i64 0")
    for k in range(behind, begin + size):
        total = add(element, total, f.op(f"extractelement {whole} {v}, i64 {k}"))
    return total


def _shuffled(f: Emitter, name: str, v: str, places: range) -> str:
    """Some elements of a vector of type `name`."""
    mask = ", ".join(f"i32 {k}" for k in places)
    return f.op(f"shufflevector {name} {v}, {name} poison, <{len(places)} x i32> <{mask}>")


def _reduce(f: Emitter, args: list[Value], result: Type) -> str:
    assert isinstance(result, Scalar)
    assert isinstance(args[0].type, Vector)
    t = Vector(result, args[0].type.length)
    vectors = [cast(f, a, t).text for a in args]
    text = vectors[0] if len(vectors) == 1 else binary(f, "*", vectors[0], vectors[1], t)
    if is_float(t) and t.length >= _LANES:
        return _pairwise(f, text, t, 0, t.length)
    name, element, suffix = f.types.register(t), f.types.register(result), f.types.suffix(t)
    if is_float(t):
        start = f.types.constant(-0.0, result)
        signature = f"declare {element} @llvm.vector.reduce.fadd.{suffix}({element}, {name})"
        f.declarations.add(signature)
        return f.op(f"call {element} @llvm.vector.reduce.fadd.{suffix}({element} {start}, {name} {text})")
    return f.call(element, f"llvm.vector.reduce.{'or' if is_bool(t) else 'add'}.{suffix}", f"{name} {text}")

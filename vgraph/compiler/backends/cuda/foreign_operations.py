"""LLVM's operations on scalars in CUDA C++: arithmetic, comparisons, conversions, and the functions that it calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from vgraph.compiler.backends.cuda.foreign_values import (
    Lanes,
    Unsupported,
    c_type,
    integer,
    is_float,
    room,
    signed,
    width,
    wrap,
)

# --- arithmetic -----------------------------------------------------------------------------------------------

_SYMBOLS: Final = {
    "add": "+", "sub": "-", "mul": "*", "udiv": "/", "urem": "%", "and": "&", "or": "|", "xor": "^",
    "fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/", "sdiv": "/", "srem": "%",
}  # fmt: skip
BINARY: Final = frozenset({*_SYMBOLS, "shl", "lshr", "ashr", "frem"})


def binary(op: str, a: str, b: str, t: str) -> str:
    """An operation on two values of type `t`."""
    if op in ("shl", "lshr", "ashr"):
        # A count past the width gives rubbish, which LLVM allows as long as nobody uses it; C++ does not.
        count = f"({b} & {room(t) - 1}u)" if t != "i1" else "0"
        value = signed(a, t) if op == "ashr" else a
        shifted = f"({c_type(t)})({value} {'<<' if op == 'shl' else '>>'} {count})"
        return shifted if op == "lshr" else wrap(shifted, t)
    if op == "frem":
        return f"math::mod({a}, {b})"
    symbol = _SYMBOLS[op]
    if op in ("sdiv", "srem"):
        return wrap(f"({c_type(t)})({signed(a, t)} {symbol} {signed(b, t)})", t)
    text = f"({a} {symbol} {b})"
    return wrap(text, t) if op in ("add", "sub", "mul") else text


_INTEGER_TESTS: Final = {"eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}
_FLOAT_TESTS: Final = {
    "false": "false", "oeq": "({a} == {b})", "ogt": "({a} > {b})", "oge": "({a} >= {b})",
    "olt": "({a} < {b})", "ole": "({a} <= {b})", "one": "({a} < {b} || {a} > {b})",
    "ord": "({a} == {a} && {b} == {b})", "uno": "({a} != {a} || {b} != {b})",
    "ueq": "!({a} < {b} || {a} > {b})", "ugt": "!({a} <= {b})", "uge": "!({a} < {b})",
    "ult": "!({a} >= {b})", "ule": "!({a} > {b})", "une": "({a} != {b})", "true": "true",
}  # fmt: skip
TESTS: Final = frozenset(
    {*_FLOAT_TESTS, "eq", "ne", *(f"{x}{y}" for x in "su" for y in ("gt", "ge", "lt", "le"))}
)


def compare(test: str, a: str, b: str, t: str) -> str:
    """`icmp` and `fcmp`."""
    if is_float(t):
        return _FLOAT_TESTS[test].format(a=a, b=b)
    if test[0] == "s":
        a, b = signed(a, t), signed(b, t)
    return f"({a} {_INTEGER_TESTS[test if test in ('eq', 'ne') else test[1:]]} {b})"


_BITS: Final = {
    ("double", "i64"): "(u64)__double_as_longlong",
    ("i64", "double"): "__longlong_as_double",
    ("float", "i32"): "__float_as_uint",
    ("i32", "float"): "__uint_as_float",
}
_CASTS: Final = "zext sext trunc fptosi fptoui sitofp uitofp fpext fptrunc bitcast freeze"
CASTS: Final = frozenset(_CASTS.split())


def cast(op: str, a: str, source: str, to: str) -> str:
    """A conversion from type `source`."""
    if op in ("freeze", "bitcast") and source == to:
        return a
    if op == "bitcast":
        if (source, to) not in _BITS:
            raise Unsupported(f"the bits of {source} as {to}")
        return f"{_BITS[source, to]}({a})"
    if op in ("fptosi", "fptoui", "sitofp", "uitofp") and max(width(source), width(to)) > 64:
        raise Unsupported("floats of 128-bit integers")
    kept = c_type(to)
    if op in ("fptosi", "fptoui"):
        whole = f"({'i' if op == 'fptosi' else 'u'}{room(to)}){a}"
        return f"({whole} != 0)" if to == "i1" else wrap(f"({kept}){whole}", to)
    if op in ("sext", "sitofp"):
        text = f"({kept}){signed(a, source)}"
        return wrap(text, to) if op == "sext" else text
    if op == "trunc":
        return wrap(a if to == "i1" else f"({kept}){a}", to)
    return f"({kept}){a}"


# --- functions ------------------------------------------------------------------------------------------------

_OF_ONE: Final = (
    "sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
    "erf erfc tgamma lgamma floor ceil trunc round rint nearbyint fabs"
)
_OF_TWO: Final = "pow atan2 fmod remainder hypot copysign nextafter fmin fmax fdim"
_MATHEMATICS: Final = {
    **dict.fromkeys(_OF_ONE.split(), 1),
    **dict.fromkeys(_OF_TWO.split(), 2),
    "fma": 3,
}
"""Functions that C and CUDA have under the same name, and how many arguments they take."""
_RENAMED: Final = {"minnum": "fmin", "maxnum": "fmax", "roundeven": "rint"}


def _mathematics(name: str, args: Sequence[str], t: str) -> str | None:
    """A call of one of them; `name` is that of the double one."""
    if _MATHEMATICS.get(name) != len(args) or not is_float(t):
        return None
    return f"::{name}{'f' if t == 'float' else ''}({', '.join(args)})"


_Intrinsic = Callable[[Sequence[str], str], str]


def _choose(symbol: str, as_signed: bool) -> _Intrinsic:
    def emit(args: Sequence[str], t: str) -> str:
        a, b = args
        x, y = (signed(a, t), signed(b, t)) if as_signed else (a, b)
        return f"({x} {symbol} {y} ? {a} : {b})"

    return emit


def _order(as_signed: bool) -> _Intrinsic:
    def emit(args: Sequence[str], t: str) -> str:
        x, y = (signed(a, t) if as_signed else a for a in args)
        return f"(({x} > {y}) - ({x} < {y}))"

    return emit


def _magnitude(args: Sequence[str], t: str) -> str:
    a = args[0]
    return f"({signed(a, t)} < 0 ? {wrap(f'({c_type(t)})(0 - {a})', t)} : {a})"


def _bits(args: Sequence[str], t: str) -> str:
    return f"({c_type(t)})__popc{_long(t)}({args[0]})"


def _leading(args: Sequence[str], t: str) -> str:
    above = room(t) - width(t)
    return f"({c_type(t)})(__clz{_long(t)}({args[0]}) - {above})"


def _trailing(args: Sequence[str], t: str) -> str:
    return f"({args[0]} ? ({c_type(t)})(__ffs{_long(t)}({args[0]}) - 1) : {integer(width(t), t)})"


def _long(t: str) -> str:
    if width(t) not in (8, 16, 32, 64):
        raise Unsupported(f"the bits of {t}")
    return "ll" if room(t) == 64 else ""


def _funnel(name: str) -> _Intrinsic:
    def emit(args: Sequence[str], t: str) -> str:
        if width(t) not in (32, 64):
            raise Unsupported(f"the bits of {t}")
        return f"{name}({', '.join(args)})"

    return emit


_INTRINSICS: Final[dict[str, _Intrinsic]] = {
    "smax": _choose(">", True), "smin": _choose("<", True),
    "umax": _choose(">", False), "umin": _choose("<", False),
    "scmp": _order(True), "ucmp": _order(False),
    "abs": _magnitude, "ctpop": _bits, "ctlz": _leading, "cttz": _trailing,
    "fshl": _funnel("funnel_left"), "fshr": _funnel("funnel_right"),
    "fmuladd": lambda args, t: f"({args[0]} * {args[1]} + {args[2]})",
    "minimum": lambda args, t: f"vg::min({args[0]}, {args[1]})",
    "maximum": lambda args, t: f"vg::max({args[0]}, {args[1]})",
    "powi": lambda args, t: f"whole_power({args[0]}, (i32){args[1]})",
    "usub.sat": lambda args, t: f"({args[0]} > {args[1]} ? {args[0]} - {args[1]} : 0)",
}  # fmt: skip
NOTHING: Final = ("llvm.assume", "llvm.experimental.noalias.scope.decl", "llvm.dbg.", "llvm.lifetime.")
"""Calls that compute nothing."""


def call(name: str, args: Sequence[str], t: str, result: str) -> str:
    """A function of scalars, of LLVM's own or of the C library; `t` is the type of the first argument."""
    text = None
    if found := re.fullmatch(r"llvm\.([\w.]+?)\.(?:v\d+)?[if]\d+(?:\.(?:v\d+)?[if]\d+)?", name):
        own = found[1]
        if own in _INTRINSICS:
            text = _INTRINSICS[own](args, t)
            return wrap(f"({c_type(result)}){text}", result) if own in ("scmp", "ucmp") else text
        text = _mathematics(_RENAMED.get(own, own), args, t)
    elif not name.startswith("llvm."):
        text = _mathematics(name[:-1] if t == "float" and name.endswith("f") else name, args, t)
    if text is None:
        raise Unsupported(f"`{name}`")
    return text


def with_overflow(name: str, args: Sequence[str], t: str) -> Lanes | None:
    """`llvm.sadd.with.overflow.i64` and its like: the result and whether it was too large; None for others."""
    found = re.fullmatch(r"llvm\.([su])(add|sub|mul)\.with\.overflow\.i(8|16|32|64)", name)
    if found is None:
        return None
    minus = found[1] == "s"
    wide = f"i{2 * room(t)}"
    a, b = (f"({wide}){signed(x, t) if minus else x}" for x in args)
    symbol, result = _SYMBOLS[found[2]], binary(found[2], args[0], args[1], t)
    whole = f"({a} {symbol} {b})"
    again = f"({wide}){signed(result, t) if minus else result}"
    if not minus and found[2] == "mul":
        unsigned = f"u{2 * room(t)}"
        whole, again = f"(({unsigned}){args[0]} * {args[1]})", f"({unsigned}){result}"
    return result, f"({whole} != {again})"


def reduced(name: str, args: Sequence[Lanes], t: str) -> str | None:
    """`llvm.vector.reduce.add.v4i64` and its like, in the order of the lanes; None for others."""
    found = re.fullmatch(r"llvm\.vector\.reduce\.(\w+)\.v\d+[if]\d+", name)
    if found is None:
        return None
    op, lanes = found[1], args[-1]
    start = args[0] if op in ("fadd", "fmul") else ()
    text, *rest = (*start, *lanes)
    for lane in rest:
        if op in BINARY:
            text = binary(op, text, lane, t)
        else:
            own = {"fmax": "maxnum", "fmin": "minnum", "fmaximum": "maximum", "fminimum": "minimum"}.get(
                op, op
            )
            text = call(f"llvm.{own}.{'f64' if is_float(t) else t}", (text, lane), t, t)
    return text

"""LLVM's code as device functions: the translation computes what LLVM's own machine code computes.

Every function takes and gives two 64-bit words; inside it goes to other widths, to floats or to vectors.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from foreign_harness import by_llvm, on_device, text_of
from machine_code import cubin
from numpy.typing import NDArray

from vgraph.compiler.backends.cuda import nvrtc
from vgraph.compiler.backends.cuda.foreign import Unsupported, device_function
from vgraph.compiler.foreign.externals import External
from vgraph.compiler.types import I64

WIDTHS = (1, 8, 13, 32, 33, 64, 65, 128)
WORDS = NDArray[np.int64]


def external(name: str, body: str, outside: str = "") -> External:
    """A function of the words `%a` and `%b`, which returns `%r`."""
    full = f"external.{name}.x0"
    text = f'define i64 @"{full}"(i64 %a, i64 %b) {{\n{body}\n  ret i64 %r\n}}\n{outside}'
    return External(full, (I64, I64), I64, text, lambda a, b: a)


# --- integers -------------------------------------------------------------------------------------------------


def narrowed(width: int) -> str:
    """`%x` and `%y` of a width, from both words."""
    op = "trunc" if width < 64 else "sext"
    if width == 64:
        return "  %x = add i64 %a, 0\n  %y = add i64 %b, 0"
    return f"  %x = {op} i64 %a to i{width}\n  %y = {op} i64 %b to i{width}"


def widened(width: int, extend: str = "sext") -> str:
    """`%r` from `%s` of a width; of more than 64 bits the upper ones."""
    if width > 64:
        return f"  %t = lshr i{width} %s, {width - 64}\n  %r = trunc i{width} %t to i64"
    return "  %r = add i64 %s, 0" if width == 64 else f"  %r = {extend} i{width} %s to i64"


def arithmetic() -> dict[str, External]:
    found = {}
    for width in WIDTHS:
        t = f"i{width}"
        for op in "add sub mul and or xor udiv urem sdiv srem shl lshr ashr".split():
            y = "%y"
            change = ""
            if "div" in op or "rem" in op:
                if width == 1 or width > 64:  # what LLVM calls for these is in no library that a process has
                    continue
                change, y = f"  %odd = or {t} %x, 1\n  %v = or {t} %y, 3\n", "%v"
            elif op in ("shl", "lshr", "ashr"):
                change, y = f"  %v = and {t} %y, {min(7, width - 1)}\n", "%v"
            x = "%odd" if "odd" in change else "%x"
            body = f"{narrowed(width)}\n{change}  %s = {op} {t} {x}, {y}\n{widened(width)}"
            found[f"{op}_{width}"] = external(f"{op}_{width}", body)
    return found


def comparisons() -> dict[str, External]:
    found = {}
    for width in WIDTHS:
        for test in "eq ne ugt uge ult ule sgt sge slt sle".split():
            body = f"{narrowed(width)}\n  %s = icmp {test} i{width} %x, %y\n{widened(1, 'zext')}"
            found[f"{test}_{width}"] = external(f"{test}_{width}", body)
    return found


def intrinsics() -> dict[str, External]:
    found = {}
    for width in (8, 13, 32, 64):
        t = f"i{width}"
        calls = {name: f"{t} %x, {t} %y" for name in ("smax", "smin", "umax", "umin", "usub.sat")}
        calls["abs"] = calls["ctlz"] = calls["cttz"] = f"{t} %x, i1 false"
        calls["ctpop"] = f"{t} %x"
        if width in (32, 64):
            calls["fshl"] = f"{t} %x, {t} %y, {t} %y"
            calls["fshr"] = f"{t} %y, {t} %x, {t} %x"
        for name, args in calls.items():
            if width == 13 and name.startswith("ct"):
                continue
            kinds = re.sub(r" (%\w+|false)", "", args)
            full = f"llvm.{name}.{t}"
            text = f"{narrowed(width)}\n  %s = call {t} @{full}({args})\n{widened(width)}"
            label = f"{name.replace('.', '_')}_{width}"
            found[label] = external(label, text, f"declare {t} @{full}({kinds})")
        for name in ("scmp", "ucmp"):
            full = f"llvm.{name}.i8.{t}"
            text = f"{narrowed(width)}\n  %s = call i8 @{full}({t} %x, {t} %y)\n{widened(8)}"
            found[f"{name}_{width}"] = external(f"{name}_{width}", text, f"declare i8 @{full}({t}, {t})")
    for width in (8, 32, 64):
        t = f"i{width}"
        for name in ("sadd", "uadd", "ssub", "usub", "smul", "umul"):
            full = f"llvm.{name}.with.overflow.{t}"
            body = [
                narrowed(width),
                f"  %pair = call {{ {t}, i1 }} @{full}({t} %x, {t} %y)",
                f"  %large = extractvalue {{ {t}, i1 }} %pair, 1",
                f"  %some = extractvalue {{ {t}, i1 }} %pair, 0",
                f"  %s = select i1 %large, {t} 17, {t} %some",
                widened(width),
            ]
            label = f"{name}_large_{width}"
            found[label] = external(label, "\n".join(body), f"declare {{ {t}, i1 }} @{full}({t}, {t})")
    return found


# --- vectors, tables, loops -----------------------------------------------------------------------------------

VECTOR_LOOP = """
  br label %loop
loop:
  %sums = phi <4 x i64> [ <i64 1, i64 2, i64 3, i64 -4>, %0 ], [ %more, %loop ]
  %steps = phi <4 x i64> [ zeroinitializer, %0 ], [ %next, %loop ]
  %k = phi i64 [ 0, %0 ], [ %later, %loop ]
  %first = insertelement <4 x i64> poison, i64 %a, i64 0
  %same = shufflevector <4 x i64> %first, <4 x i64> poison, <4 x i32> zeroinitializer
  %mixed = mul <4 x i64> %same, %steps
  %turned = shufflevector <4 x i64> %mixed, <4 x i64> %sums, <4 x i32> <i32 1, i32 6, i32 3, i32 poison>
  %small = icmp slt <4 x i64> %turned, splat (i64 100)
  %kept = select <4 x i1> %small, <4 x i64> %turned, <4 x i64> %sums
  %fixed = insertelement <4 x i64> %kept, i64 %k, i32 3
  %more = add <4 x i64> %fixed, %sums
  %next = add <4 x i64> %steps, splat (i64 3)
  %later = add i64 %k, 1
  %end = and i64 %b, 15
  %on = icmp ult i64 %later, %end
  br i1 %on, label %loop, label %done
done:
  %total = call i64 @llvm.vector.reduce.add.v4i64(<4 x i64> %more)
  %most = call i64 @llvm.vector.reduce.smax.v4i64(<4 x i64> %more)
  %bits = call i64 @llvm.vector.reduce.xor.v4i64(<4 x i64> %steps)
  %one = extractelement <4 x i64> %more, i64 2
  %r0 = xor i64 %total, %most
  %r1 = add i64 %r0, %bits
  %r = sub i64 %r1, %one"""
SWAPS = """
  %n = and i64 %b, 31
  br label %loop
loop:
  %x = phi i64 [ %a, %0 ], [ %y, %loop ]
  %y = phi i64 [ 1, %0 ], [ %x, %loop ]
  %k = phi i64 [ 0, %0 ], [ %later, %loop ]
  %later = add i64 %k, 1
  %on = icmp ult i64 %later, %n
  br i1 %on, label %loop, label %done
done:
  %r = sub i64 %x, %y"""
SWITCH = """
  switch i64 %a, label %other [ i64 0, label %zero
                                i64 1, label %one
                                i64 -1, label %one ]
zero:
  %p = mul i64 %b, 7
  br label %end
one:
  %q = xor i64 %b, 5
  br label %end
other:
  br label %end
end:
  %r = phi i64 [ %p, %zero ], [ %q, %one ], [ 3, %other ]"""
TABLE = "@values = internal constant [4 x i64] [i64 7, i64 -8, i64 9, i64 1000000000000]\n"
PLAIN_STEP = """
  %k = and i64 %a, 3
  %p = getelementptr inbounds i64, ptr @values, i64 %k
  %r = load i64, ptr %p"""
ARRAY_STEP = """
  %k = and i64 %b, 3
  %p = getelementptr inbounds [4 x i64], ptr @values, i64 0, i64 %k
  %r = load i64, ptr %p"""
HELPER = """
define internal i64 @helper(i64 %x) noinline optnone {
  %y = mul i64 %x, 3
  ret i64 %y
}"""
REDUCTIONS = """declare i64 @llvm.vector.reduce.add.v4i64(<4 x i64>)
declare i64 @llvm.vector.reduce.smax.v4i64(<4 x i64>)
declare i64 @llvm.vector.reduce.xor.v4i64(<4 x i64>)"""


def shapes() -> dict[str, External]:
    return {
        "vectors": external("vectors", VECTOR_LOOP, REDUCTIONS),
        "swaps": external("swaps", SWAPS),
        "switch": external("switch", SWITCH),
        "plain_step": external("plain_step", PLAIN_STEP, TABLE),
        "array_step": external("array_step", ARRAY_STEP, TABLE),
        "helper": external("helper", "  %r = call i64 @helper(i64 %a)", HELPER),
        "undefined": external("undefined", "  %s = freeze i64 %a\n  %r = or i64 %s, 1"),
    }


# --- floats ---------------------------------------------------------------------------------------------------


def of_floats(name: str, t: str, body: str, outside: str = "", result: str = "") -> External:
    """A function of floats `%x` and `%y`, which the words are the bits of; `%s` is of type `result`."""
    lines = [f"  %{v} = bitcast i64 %{w} to double" for v, w in (("x8", "a"), ("y8", "b"))]
    if t == "float":
        lines += ["  %x = fptrunc double %x8 to float", "  %y = fptrunc double %y8 to float"]
    else:
        lines = [line.replace("8 =", " =") for line in lines]
    lines.append(body)
    last = {"float": ["  %wide = fpext float %s to double", "  %r = bitcast double %wide to i64"]}
    last["double"] = ["  %r = bitcast double %s to i64"]
    lines += last.get(
        result or t, [f"  %r = sext {result} %s to i64" if result != "i64" else "  %r = add i64 %s, 0"]
    )
    return external(name, "\n".join(lines), outside)


def exact_floats() -> dict[str, External]:
    """Those that have one right answer, and conversions."""
    found = {}
    tests = "oeq ogt oge olt ole one ord uno ueq ugt uge ult ule une".split()
    for t in ("float", "double"):
        for op in ("fadd", "fsub", "fmul", "fdiv", "frem"):
            found[f"{op}_{t}"] = of_floats(f"{op}_{t}", t, f"  %s = {op} {t} %x, %y")
        found[f"fneg_{t}"] = of_floats(f"fneg_{t}", t, f"  %s = fneg {t} %x")
        for test in tests:
            text = f"  %c = fcmp {test} {t} %x, %y\n  %s = zext i1 %c to i32"
            found[f"{test}_{t}"] = of_floats(f"{test}_{t}", t, text, result="i32")
        bits = "i32" if t == "float" else "i64"
        short = "f32" if t == "float" else "f64"
        text = f"  %i = bitcast {t} %x to {bits}\n  %j = xor {bits} %i, 1\n  %s = bitcast {bits} %j to {t}"
        found[f"bits_{t}"] = of_floats(f"bits_{t}", t, text)
        small = f"  %z = call {t} @llvm.minnum.{short}({t} %x, {t} 1.0e9)\n"
        small += f"  %u = call {t} @llvm.maxnum.{short}({t} %z, {t} -1.0e9)\n"
        limits = "".join(f"declare {t} @llvm.{f}.{short}({t}, {t})\n" for f in ("minnum", "maxnum"))
        for op, source in (("fptosi", "%u"), ("fptoui", "%p")):
            more = f"  %p = call {t} @llvm.fabs.{short}({t} %u)\n" if op == "fptoui" else ""
            text = f"{small}{more}  %s = {op} {t} {source} to i64"
            name = f"{op}_{t}"
            found[name] = of_floats(
                name, t, text, f"{limits}declare {t} @llvm.fabs.{short}({t})", result="i64"
            )
        for op in ("sitofp", "uitofp"):
            text = f"  %w = trunc i64 %a to i33\n  %s = {op} i33 %w to {t}"
            found[f"{op}_{t}"] = of_floats(f"{op}_{t}", t, text)
        constants = "0x7FF0000000000000", "0xFFF0000000000000", "0x7FF8000000000000", "0x3FB99999A0000000"
        text = f"  %c = fcmp olt {t} %x, {constants[3]}\n  %d = select i1 %c, {t} {constants[1]}, {t} {constants[2]}\n"
        text += f"  %e = fcmp oeq {t} %y, {constants[0]}\n  %s = select i1 %e, {t} %d, {t} {constants[3]}"
        found[f"constants_{t}"] = of_floats(f"constants_{t}", t, text)
    return found


def mathematics() -> dict[str, External]:
    found = {}
    one = "exp exp2 log log2 log10 sin cos floor ceil trunc rint nearbyint round fabs sqrt".split()
    c_one = "expm1 log1p tan asin atan sinh cosh tanh asinh acosh atanh cbrt erf erfc".split()
    for t, short in (("float", "f32"), ("double", "f64")):
        end = "f" if t == "float" else ""
        calls = {f"llvm.{name}.{short}": 1 for name in one}
        calls |= {f"{name}{end}": 1 for name in c_one}
        calls |= {f"llvm.{name}.{short}": 2 for name in ("pow", "copysign", "minnum", "maxnum", "maximum")}
        calls |= {f"{name}{end}": 2 for name in ("atan2", "hypot", "fdim")}
        for name, count in calls.items():
            given, kinds = ", ".join([f"{t} %x", f"{t} %y"][:count]), ", ".join([t] * count)
            label = name.replace(".", "_")
            text = f"  %s = call {t} @{name}({given})"
            found[label] = of_floats(label, t, text, f"declare {t} @{name}({kinds})")
        text = f"  %s = call {t} @llvm.fmuladd.{short}({t} %x, {t} %y, {t} 1.0)"
        found[f"fmuladd_{t}"] = of_floats(
            f"fmuladd_{t}", t, text, f"declare {t} @llvm.fmuladd.{short}({t}, {t}, {t})"
        )
    return found


# --- both sides -----------------------------------------------------------------------------------------------


def words() -> tuple[WORDS, WORDS]:
    """Words of all sizes, and those at the limits."""
    rng = np.random.default_rng(5)
    sizes = rng.integers(0, 63, 60)
    some = rng.integers(-(1 << 62), 1 << 62, 60) >> sizes
    edges = [0, 1, -1, 2, 127, 128, 255, -128, 2**31 - 1, -(2**31), 2**32, 2**63 - 1, -(2**63), 2**32 - 1]
    values = np.array([*edges, *some])
    return values, rng.permutation(values)


def numbers() -> tuple[WORDS, WORDS]:
    rng = np.random.default_rng(6)
    some = rng.normal(size=50) * 10.0 ** rng.integers(-3, 4, 50)
    values = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e30, 1e-30, *some])
    return values.view(np.int64), rng.permutation(values).view(np.int64)


def check(
    functions: dict[str, External],
    given: tuple[WORDS, WORDS],
    device: Any,
    equal: Callable[[str, WORDS, WORDS], None],
) -> None:
    assert len(functions) == len({f.name for f in functions.values()})
    found = on_device(list(functions.values()), given, "int64", device)
    for (name, function), ours in zip(functions.items(), found, strict=True):
        equal(name, ours, by_llvm(function, given, "int64"))


def same(name: str, ours: WORDS, theirs: WORDS) -> None:
    np.testing.assert_array_equal(ours, theirs, err_msg=name)


def same_floats(name: str, ours: WORDS, theirs: WORDS) -> None:
    np.testing.assert_array_equal(ours.view(np.float64), theirs.view(np.float64), err_msg=name)


def near(name: str, ours: WORDS, theirs: WORDS) -> None:
    short = "f32" in name or name.endswith(("f", "float"))
    close, least = (1e-5, 1e-7) if short else (1e-12, 1e-14)
    np.testing.assert_allclose(ours.view(np.float64), theirs.view(np.float64), close, least, err_msg=name)


@pytest.mark.parametrize("some", [arithmetic, comparisons, intrinsics, shapes], ids=lambda f: f.__name__)
def test_integers(some: Callable[[], dict[str, External]], gpu: Any) -> None:
    check(some(), words(), gpu, same)


def test_floats(gpu: Any) -> None:
    check(exact_floats(), numbers(), gpu, same_floats)


def test_mathematics(gpu: Any) -> None:
    check(mathematics(), numbers(), gpu, near)


def test_whole_powers(gpu: Any) -> None:
    text = "  %n = trunc i64 %b to i32\n  %s = call double @llvm.powi.f64.i32(double %x, i32 %n)"
    function = of_floats("powi", "double", text, "declare double @llvm.powi.f64.i32(double, i32)")
    base, exponent = np.array([2.0, -1.5, 3.0, 0.0, 1.1, 7.0]), np.array([10, 3, -2, 0, 40, 1])
    (found,) = on_device([function], (base.view(np.int64), exponent), "int64", gpu)
    np.testing.assert_allclose(found.view(np.float64), base**exponent, 1e-13)


@pytest.mark.skipif(nvrtc.find() is None, reason="NVRTC is not installed: pip install 'vgraph[dev]'")
def test_what_runs_emulated_compiles() -> None:
    for some in (arithmetic, comparisons, intrinsics, shapes, exact_floats, mathematics):
        assert b"vg_main" in cubin(text_of(list(some().values()), words(), "int64"))


# --- what has no translation ----------------------------------------------------------------------------------

RECURSIVE = """
define internal i64 @again(i64 %x) {
  %end = icmp slt i64 %x, 2
  br i1 %end, label %one, label %more
one:
  ret i64 1
more:
  %y = sub i64 %x, 1
  %z = sub i64 %x, 2
  %p = call i64 @again(i64 %y)
  %q = call i64 @again(i64 %z)
  %r = xor i64 %p, %q
  ret i64 %r
}"""
REFUSED = {
    "memory": ("  %p = alloca i64\n  store volatile i64 %a, ptr %p\n  %r = load volatile i64, ptr %p", ""),
    "functions that call themselves": ("  %r = call i64 @again(i64 %a)", RECURSIVE),
    "`unheard_of`": ("  %r = call i64 @unheard_of(i64 %a)", "declare i64 @unheard_of(i64)"),
    "values of type i200": (
        "  %x = sext i64 %a to i200\n  %y = mul i200 %x, %x\n  %z = udiv i200 %y, 7\n  %s = lshr i200 %z, 99\n"
        "  %r = trunc i200 %s to i64",
        "",
    ),
    "an element of a vector by a number": (
        "  %v = insertelement <4 x i64> <i64 1, i64 2, i64 3, i64 4>, i64 %a, i64 %b\n"
        "  %r = extractelement <4 x i64> %v, i64 2",
        "",
    ),
    "`llvm.is.fpclass.f64`": (
        "  %x = bitcast i64 %a to double\n  %c = call i1 @llvm.is.fpclass.f64(double %x, i32 161)\n"
        "  %r = zext i1 %c to i64",
        "declare i1 @llvm.is.fpclass.f64(double, i32)",
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_has_no_translation(reason: str) -> None:
    with pytest.raises(Unsupported, match=re.escape(reason)):
        device_function(external("refused", *REFUSED[reason]))

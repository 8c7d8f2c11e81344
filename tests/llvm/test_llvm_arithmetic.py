"""Every operator on every type, scalars and vectors, against NumPy and the rules of the language."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from llvm_harness import CSR, cached, load, program, run

from vgraph.compiler import ir
from vgraph.compiler.backends import jit
from vgraph.compiler.backends.base import Kernel
from vgraph.compiler.types import BOOL, F16, F32, F64, I32, I64, U32, U64, VID, Scalar, Target, Type, Vector

INTEGERS = (I32, I64, U32, U64)
FLOATS = (F32, F64)
SCALARS = (BOOL, *INTEGERS, *FLOATS)
V = ir.Var("v", VID)
SIZE = 24
OPS = {
    "int": ("+", "-", "*", "//", "%", "**", "&", "|", "^", "<<", ">>", "min", "max"),
    "float": ("+", "-", "*", "/", "//", "%", "**", "min", "max"),
    "bool": ("&", "|", "^", "min", "max"),
}
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def dtype(t: Scalar) -> np.dtype[Any]:
    return np.dtype(Target().numpy_name(t))


def family(t: Scalar) -> str:
    return "float" if t.is_float else "int" if t.is_integer else "bool"


@cached
def binary_kernel(t: Type) -> Kernel:
    """`v` over vertices: o_<op>[v] = a[v] op b[v], for every operator of the type."""
    element = t.element if isinstance(t, Vector) else t
    a, b = ir.Load("a", V, t), ir.Load("b", V, t)
    stores: list[ir.Stmt] = [
        ir.Store(f"o{k}", V, ir.Binary(op, a, b)) for k, op in enumerate(OPS[family(element)])
    ]
    properties: dict[str, Type] = {"a": t, "b": t, **{f"o{k}": t for k in range(len(stores))}}
    if t == element:
        stores += [ir.Store(f"c{k}", V, ir.Compare(op, a, b)) for k, op in enumerate(COMPARISONS)]
        properties |= {f"c{k}": BOOL for k in range(len(COMPARISONS))}
    return load(program([ir.ParFor("v", ir.Vertices(), tuple(stores))], properties=properties, threads=1))


def values(t: Scalar) -> st.SearchStrategy[Any]:
    elements: dict[str, Any] = {}
    if t.is_float:
        elements = {"elements": st.one_of(st.floats(width=t.bits), st.integers(-9, 9).map(float))}
    elif t.is_integer:
        info = np.iinfo(dtype(t))
        edge = [
            0,
            1,
            2,
            3,
            5,
            7,
            31,
            63,
            64,
            int(info.max),
            int(info.min),
            int(info.max) - 1,
            int(info.min) + 1,
        ]
        if t in (I32, I64):
            edge += [-1, -2, -3, -7, -64]
        elements = {"elements": st.one_of(st.sampled_from(edge), st.integers(int(info.min), int(info.max)))}
    return hnp.arrays(dtype(t), SIZE, **elements)


def wrap(x: int, t: Scalar) -> int:
    """An integer in two's complement of the type's width."""
    x &= (1 << t.bits) - 1
    return x - (1 << t.bits) if t in (I32, I64) and x >> (t.bits - 1) else x


def integer(op: str, x: int, y: int, t: Scalar) -> int:
    """The rules for integers, in Python's unbounded ones."""
    match op:
        case "//":
            return 0 if y == 0 else wrap(x // y, t)
        case "%":
            return 0 if y == 0 else wrap(x % y, t)
        case "**":
            if y < 0:
                return {1: 1, -1: 1 if y % 2 == 0 else -1}.get(x, 0)
            return wrap(pow(x, y, 1 << t.bits), t)
        case "<<":
            return wrap(x << (y & (t.bits - 1)), t)
        case ">>":
            return wrap(x >> (y & (t.bits - 1)), t)
    results = {
        "+": x + y,
        "-": x - y,
        "*": x * y,
        "&": x & y,
        "|": x | y,
        "^": x ^ y,
        "min": min(x, y),
        "max": max(x, y),
    }
    return wrap(results[op], t)


FLOAT_UFUNCS = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": np.floor_divide,
    "%": np.remainder,
    "**": np.power,
    "min": np.minimum,
    "max": np.maximum,
}
BOOL_UFUNCS = {
    "&": np.logical_and,
    "|": np.logical_or,
    "^": np.logical_xor,
    "min": np.logical_and,
    "max": np.logical_or,
}
COMPARE_UFUNCS = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


def expected(op: str, a: Any, b: Any, t: Scalar) -> Any:
    with np.errstate(all="ignore"):
        if t.is_float:
            return FLOAT_UFUNCS[op](a, b)
        if t is BOOL:
            return BOOL_UFUNCS[op](a, b)
    return np.array([integer(op, int(x), int(y), t) for x, y in zip(a, b, strict=True)], dtype(t))


@pytest.mark.parametrize("t", SCALARS, ids=str)
@given(data=st.data())
@settings(max_examples=40)
def test_binary_operators(t: Scalar, data: st.DataObject) -> None:
    a, b = data.draw(values(t)), data.draw(values(t))
    kernel = binary_kernel(t)
    arrays = {s.name: np.zeros(SIZE, s.dtype) for s in kernel.interface.args if s.kind == "property"}
    arrays |= {"a": a, "b": b}
    run(program([]), CSR.of(SIZE, [], []), arrays, kernel=kernel)
    for k, op in enumerate(OPS[family(t)]):
        want = expected(op, a, b, t)
        if op == "**" and t.is_float:
            np.testing.assert_allclose(arrays[f"o{k}"], want, rtol=1e-6 if t is F32 else 1e-14, err_msg=op)
        else:
            np.testing.assert_array_equal(arrays[f"o{k}"], want, err_msg=op)
    for k, op in enumerate(COMPARISONS):
        np.testing.assert_array_equal(arrays[f"c{k}"], COMPARE_UFUNCS[op](a, b), err_msg=op)


@pytest.mark.parametrize("t", SCALARS, ids=str)
def test_vector_operators_work_element_by_element(t: Scalar) -> None:
    rng, length, n = np.random.default_rng(1), 3, SIZE // 3
    kernel = binary_kernel(Vector(t, length))
    a, b = (rng.integers(0, 2 if t is BOOL else 9, SIZE).astype(dtype(t)) for _ in range(2))
    arrays = {s.name: np.zeros((n, length), s.dtype) for s in kernel.interface.args if s.kind == "property"}
    arrays |= {"a": a.reshape(n, length), "b": b.reshape(n, length)}
    run(program([]), CSR.of(n, [], []), arrays, kernel=kernel)
    for k, op in enumerate(OPS[family(t)]):
        np.testing.assert_allclose(arrays[f"o{k}"].ravel(), expected(op, a, b, t), rtol=1e-6, err_msg=op)


# --- casts --------------------------------------------------------------------------------------------------


@cached
def cast_kernel(source: Scalar) -> Kernel:
    stores = [ir.Store(f"o{k}", V, ir.Cast(t, ir.Load("a", V, source))) for k, t in enumerate(SCALARS)]
    properties: dict[str, Type] = {"a": source, **{f"o{k}": t for k, t in enumerate(SCALARS)}}
    return load(program([ir.ParFor("v", ir.Vertices(), tuple(stores))], properties=properties, threads=1))


def converted(a: Any, to: Scalar) -> Any:
    """The rules of conversion: floats truncate and saturate, NaN gives 0; integers wrap; to bool is != 0."""
    if to is BOOL:
        return a != 0
    if to.is_float or a.dtype.kind != "f":
        with np.errstate(all="ignore"):
            return a.astype(dtype(to))
    info = np.iinfo(dtype(to))

    def one(x: float) -> int:
        if math.isnan(x):
            return 0
        return int(info.max if x > 0 else info.min) if math.isinf(x) else max(info.min, min(info.max, int(x)))

    return np.array([one(float(x)) for x in a], dtype(to))


@pytest.mark.parametrize("source", SCALARS, ids=str)
@given(data=st.data())
@settings(max_examples=40)
def test_casts(source: Scalar, data: st.DataObject) -> None:
    a = data.draw(values(source))
    arrays = {f"o{k}": np.zeros(SIZE, dtype(t)) for k, t in enumerate(SCALARS)} | {"a": a}
    run(program([]), CSR.of(SIZE, [], []), arrays, kernel=cast_kernel(source))
    for k, t in enumerate(SCALARS):
        np.testing.assert_array_equal(arrays[f"o{k}"], converted(a, t), err_msg=str(t))


def test_a_scalar_cast_to_a_vector_is_repeated() -> None:
    t = Vector(F64, 3)
    body = [ir.ParFor("v", ir.Vertices(), (ir.Store("o", V, ir.Cast(t, ir.Cast(I64, V))),))]
    arrays = {"o": np.zeros((4, 3))}
    run(program(body, properties={"o": t}, threads=1), CSR.of(4, [], []), arrays)
    np.testing.assert_array_equal(arrays["o"], np.repeat(np.arange(4.0), 3).reshape(4, 3))


def halves_and_around() -> Any:
    """Every float16 that is a number, what lies half way to the next, and beside that; infinities and NaN."""
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)
    middle = (halves + np.append(halves[1:], np.float32(65536))) / 2
    beside = [np.nextafter(middle, np.float32(end)) for end in (0, np.inf)]
    some = np.concatenate([halves, middle, *beside, np.array([np.inf, 1e30, 1e-40, np.nan], np.float32)])
    return np.concatenate([some, -some])


@pytest.mark.parametrize("by_instructions", [True, False])
def test_float16_is_the_nearest_as_in_numpy(by_instructions: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what this host has, and as on a host that has nothing for it; numbers one by one, and vectors."""
    if not by_instructions:
        monkeypatch.setattr(jit, "converts_halves", lambda: False)
    a = halves_and_around()
    with np.errstate(over="ignore"):
        expected = a.astype(np.float16)
    for t in (F32, Vector(F32, 2)):
        stored = F16 if t == F32 else Vector(F16, 2)
        shape = (-1, 2) if t != F32 else -1
        body = (
            ir.Store("h", V, ir.Cast(stored, ir.Load("a", V, t))),
            ir.Store("b", V, ir.Cast(t, ir.Load("h", V, stored))),
        )
        p = program(
            [ir.ParFor("v", ir.Vertices(), body)], properties={"a": t, "h": stored, "b": t}, threads=1
        )
        arrays = {
            "a": a.reshape(shape),
            "h": np.zeros_like(expected.reshape(shape)),
            "b": np.zeros_like(a.reshape(shape)),
        }
        run(p, CSR.of(len(arrays["a"]), [], []), arrays, kernel=load(p))
        np.testing.assert_array_equal(arrays["h"].ravel(), expected)
        np.testing.assert_array_equal(arrays["b"].ravel(), expected.astype(np.float32))


# --- functions ----------------------------------------------------------------------------------------------

FLOAT_FUNCTIONS = {
    "abs": np.abs,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "floor": np.floor,
    "ceil": np.ceil,
    "isnan": np.isnan,
    "isinf": np.isinf,
}


@cached
def function_kernel(t: Scalar) -> Kernel:
    a = ir.Load("a", V, t)
    calls = {f: ir.Call(f, (a,), BOOL if f.startswith("is") else t) for f in FLOAT_FUNCTIONS}
    stores = [ir.Store(f, V, call) for f, call in calls.items()]
    stores += [ir.Store("neg", V, ir.Unary("neg", a))]
    properties: dict[str, Type] = {"a": t, "neg": t, **{f: call.type for f, call in calls.items()}}
    return load(program([ir.ParFor("v", ir.Vertices(), tuple(stores))], properties=properties, threads=1))


@pytest.mark.parametrize("t", FLOATS, ids=str)
@given(data=st.data())
@settings(max_examples=40)
def test_float_functions(t: Scalar, data: st.DataObject) -> None:
    a = data.draw(values(t))
    kernel = function_kernel(t)
    arrays = {s.name: np.zeros(SIZE, s.dtype) for s in kernel.interface.args if s.kind == "property"} | {
        "a": a
    }
    run(program([]), CSR.of(SIZE, [], []), arrays, kernel=kernel)
    with np.errstate(all="ignore"):
        for name, function in FLOAT_FUNCTIONS.items():
            np.testing.assert_allclose(
                arrays[name], function(a), rtol=1e-6 if t is F32 else 1e-14, err_msg=name
            )
    np.testing.assert_array_equal(arrays["neg"], -a)


@cached
def integer_kernel(t: Scalar) -> Kernel:
    x = ir.Load("a", V, t)
    stores = (
        ir.Store("abs", V, ir.Call("abs", (x,), t)),
        ir.Store("neg", V, ir.Unary("neg", x)),
        ir.Store("inv", V, ir.Unary("invert", x)),
        ir.Store("root", V, ir.Call("sqrt", (x,), F64)),
    )
    properties: dict[str, Type] = {"a": t, "abs": t, "neg": t, "inv": t, "root": F64}
    return load(program([ir.ParFor("v", ir.Vertices(), stores)], properties=properties, threads=1))


@pytest.mark.parametrize("t", INTEGERS, ids=str)
@given(data=st.data())
@settings(max_examples=20)
def test_integer_functions(t: Scalar, data: st.DataObject) -> None:
    a = data.draw(values(t))
    arrays = {name: np.zeros(SIZE, dtype(t)) for name in ("abs", "neg", "inv")}
    arrays |= {"a": a, "root": np.zeros(SIZE)}
    run(program([]), CSR.of(SIZE, [], []), arrays, kernel=integer_kernel(t))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(arrays["abs"], np.abs(a))
        np.testing.assert_array_equal(arrays["neg"], (0 - a).astype(dtype(t)))
        np.testing.assert_array_equal(arrays["inv"], ~a)
        np.testing.assert_array_equal(arrays["root"], np.sqrt(a.astype(np.float64)))


@pytest.mark.parametrize("t", [F32, F64, I32, U64], ids=str)
@pytest.mark.parametrize("length", [1, 2, 3, 8, 32])
def test_dot_sum_and_elements(t: Scalar, length: int) -> None:
    rng, n, vt = np.random.default_rng(2), 5, Vector(t, length)
    a, b = (rng.integers(0, 50, (n, length)).astype(dtype(t)) for _ in range(2))
    x, y = ir.Load("a", V, vt), ir.Load("b", V, vt)
    stores = (
        ir.Store("dot", V, ir.Call("dot", (x, y), t)),
        ir.Store("sum", V, ir.Call("sum", (x,), t)),
        ir.Store("at", V, ir.Element(x, ir.Binary("-", ir.Cast(I64, V), ir.Const(7, I64)))),
        ir.Store("second", V, ir.Element(x, ir.Const(1, I64))),
    )
    properties: dict[str, Type] = {"a": vt, "b": vt, "dot": t, "sum": t, "at": t, "second": t}
    arrays = {k: np.zeros(n, dtype(t)) for k in ("dot", "sum", "at", "second")} | {"a": a, "b": b}
    run(
        program([ir.ParFor("v", ir.Vertices(), stores)], properties=properties, threads=1),
        CSR.of(n, [], []),
        arrays,
    )
    np.testing.assert_array_equal(arrays["dot"], (a * b).sum(1))
    np.testing.assert_array_equal(arrays["sum"], a.sum(1))
    np.testing.assert_array_equal(arrays["at"], a[np.arange(n), (np.arange(n) - 7) % length])
    np.testing.assert_array_equal(arrays["second"], a[:, 1 % length])


# --- constants and control of evaluation --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "t", "want"),
    [
        (math.inf, I32, 2**31 - 1),
        (-math.inf, I64, -(2**63)),
        (math.inf, U32, 2**32 - 1),
        (-1, VID, 2**32 - 1),
        (2**32 - 1, VID, 2**32 - 1),
        (1e300, F32, math.inf),
        (0.1, F32, np.float32(0.1)),
        (True, BOOL, True),
        (2**63 + 5, U64, 2**63 + 5),
        (-0.0, F64, -0.0),
        (math.nan, F32, math.nan),
    ],
)
def test_constants(value: float, t: Scalar, want: float) -> None:
    result = ir.Result("x", "scalar", ir.Const(value, t))
    got = run(program([], results=[result], threads=1)).results["x"]
    np.testing.assert_array_equal(got, want)


def test_only_the_chosen_side_is_evaluated() -> None:
    """Reads far outside the arrays would crash."""
    n = 8
    far = ir.Binary("+", ir.Cast(I64, V), ir.Const(1 << 45, I64))
    outside = ir.Load("a", far, I32)
    even = ir.Compare("==", ir.Binary("%", ir.Cast(I64, V), ir.Const(2, I64)), ir.Const(5, I64))
    bad = ir.Compare(">", outside, ir.Const(0, I32))
    stores = (
        ir.Store("o", V, ir.Select(even, outside, ir.Const(3, I32))),
        ir.Store("p", V, ir.Logical("and", even, bad)),
        ir.Store("q", V, ir.Logical("or", ir.Unary("not", even), bad)),
    )
    arrays = {
        "a": np.zeros(n, np.int32),
        "o": np.zeros(n, np.int32),
        "p": np.ones(n, bool),
        "q": np.zeros(n, bool),
    }
    properties: dict[str, Type] = {"a": I32, "o": I32, "p": BOOL, "q": BOOL}
    run(
        program([ir.ParFor("v", ir.Vertices(), stores)], properties=properties, threads=1),
        CSR.of(n, [], []),
        arrays,
    )
    assert (arrays["o"] == 3).all()
    assert not arrays["p"].any()
    assert arrays["q"].all()

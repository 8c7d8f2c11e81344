"""Much of what Numba compiles, as device functions: they give what Numba's own code gives on the CPU."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from foreign_harness import Array, by_llvm, on_device

from vgraph.compiler.types import F32, F64, I64, U32, Scalar

numba = pytest.importorskip("numba", reason="Numba is not installed: pip install 'vgraph[numba]'")

PRIMES = (2, 3, 5, 7, 11)
OF_FLOATS = """
np.isfinite(x)  math.isinf(x)  math.isnan(x)  math.degrees(x)  np.sign(x)  math.copysign(x,-1.0)
math.erf(x)+math.erfc(x)  math.lgamma(x)  np.round(x)  math.trunc(x)
divmod(x,0.7)[0]  np.float32(x)*np.float32(2)  int(x)  x**2  abs(x)**0.5
math.log2(abs(x)+1)  np.cbrt(x)  np.exp2(x)  np.logaddexp(x,1.0)  int(x)in(1,2,3)  sum(PRIMES)*x  math.expm1(x)
math.log1p(abs(x))  np.fmax(x,2.0)  min(max(x,0.0),1.0)  math.ceil(x)  np.hypot(x,2.0)  np.arctan2(x,2.0)  math.asinh(x)
np.signbit(x)  math.nextafter(x,0.0)  np.floor_divide(x,0.3)  np.mod(x,0.3)  np.rint(x)  math.tan(x)  (x>1)^(x<3)
(x+1j).real  np.reciprocal(x)  np.int16(int(x))*3  x//0.3  x%-0.7  round(x)  max(x,1.0)  math.sin(x)*math.cos(x)
""".split()
OF_INTEGERS = """
x&-x  x>>3<<2  x**5  x**(x&3)  math.gcd(x,12)  abs(x)  x/3  x//3  x%-7  divmod(x,5)[1]  ~x  float(x)  x<3<x*2
min(x,3,7)  max(x,2)  np.int32(x)*np.int32(7)  math.sqrt(abs(x))  np.uint64(x)>>np.uint64(3)  PRIMES[x&3]  x*(x-1)//2
(np.uint64(x)*np.uint64(0x9E3779B97F4A7C15))>>np.uint64(40)  np.uint8(x)+x  x//(x|1)  -x
""".split()


def over_primes(x):
    s = 0.0
    for p in PRIMES:
        s += x / p
    return s


def pairs(x):
    s = 0
    for i in range(int(x)):
        for j in range(i):
            s += i ^ j
    return s


def newton(x):
    r = 1.0
    for _ in range(50):
        r = 0.5 * (r + abs(x) / r)
        if abs(r * r - x) < 1e-9:
            break
    return r


def cubes(x):
    s = 0
    for i in range(1, int(x) + 1):
        s += i * i * i
    return s


def fibonacci(x):
    a, b = 0, 1
    while a < x:
        a, b = b, a + b
    return a


def functions(texts: list[str], more: list[Callable[..., Any]], t: Scalar) -> dict[str, Any]:
    """The functions for arguments of type `t`, by what they are in Python."""
    from vgraph.compiler.foreign.numba_functions import compiled

    names = {"np": np, "math": math, "PRIMES": PRIMES}
    python = {text: eval(f"lambda x: {text}", names) for text in texts}
    python |= {f.__name__: f for f in more}
    return {text: compiled(numba.njit(f), (t,)) for text, f in python.items()}


CASES = {
    "float64": (OF_FLOATS, [over_primes, pairs, newton, cubes, fibonacci], F64),
    "float32": (OF_FLOATS, [over_primes], F32),
    "int64": (OF_INTEGERS, [pairs, cubes, fibonacci], I64),
    "uint32": (OF_INTEGERS, [], U32),
}


def values(t: Scalar) -> Array:
    rng = np.random.default_rng(1)
    if t in (F64, F32):
        return np.array([1.0, -1.0, 0.5, 2.5, -2.5, 3.0, 100.0, *np.float32(rng.normal(size=30) * 5)])
    edges = [0, 1, 2, 7, 63, 64, 1000] if t == U32 else [0, 1, -1, 2, 7, -8, 63, 64, 1000]
    return np.array([*edges, *rng.integers(0 if t == U32 else -300, 300, 30)])


@pytest.mark.parametrize("case", CASES)
def test_agrees_with_the_cpu(case: str, gpu: Any) -> None:
    *what, t = CASES[case]
    found, given = functions(*what, t), values(t)
    close = 1e-4 if t == F32 else 1e-12
    ours = on_device(list(found.values()), [given], "float64", gpu)
    for (text, function), result in zip(found.items(), ours, strict=True):
        np.testing.assert_allclose(result, by_llvm(function, [given], "float64"), close, close, err_msg=text)

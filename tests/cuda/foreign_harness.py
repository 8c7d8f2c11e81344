"""Runs functions of others on both sides: LLVM's machine code on the CPU, their translation in a kernel."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from machine_code import object_code
from numpy.typing import NDArray

from vgraph.compiler.backends.cuda.foreign import device_function
from vgraph.compiler.backends.cuda.texts import type_name
from vgraph.compiler.backends.jit import load_object
from vgraph.compiler.foreign.externals import External

Array = NDArray[Any]
_C = {
    "bool": ctypes.c_bool, "i32": ctypes.c_int32, "i64": ctypes.c_int64, "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64, "f32": ctypes.c_float, "f64": ctypes.c_double,
}  # fmt: skip
_WORDS = {"int64": "i64", "float64": "f64"}


def by_llvm(function: External, columns: Sequence[Array], dtype: str) -> Array:
    """What LLVM's machine code gives for each row."""
    code = load_object(object_code(function.llvm), {})
    types = [_C[type_name(t)] for t in (function.result, *function.args)]
    call = ctypes.CFUNCTYPE(*types)(code.address(function.name))
    return np.array([call(*row) for row in zip(*(c.tolist() for c in columns), strict=True)], dtype)


def text_of(functions: Sequence[External], columns: Sequence[Array], dtype: str) -> str:
    """A kernel that calls all functions for each row and writes what they give as `dtype`."""
    found = [device_function(f) for f in functions]
    args = ", ".join(f"a.x{k}[i]" for k in range(len(columns)))
    out = _WORDS[dtype]
    calls = [
        f"    a.out[{k} * a.n + i] = ({out})({type_name(function.result)}){device.name}({args});"
        for k, (function, device) in enumerate(zip(functions, found, strict=True))
    ]
    fields = [f"const {_WORDS[c.dtype.name]}* x{k};" for k, c in enumerate(columns)]
    return "\n".join(
        [
            '#include "vgraph.cuh"\n#include "foreign.cuh"\nusing namespace vg;\nnamespace foreign {',
            *(device.text for device in found),
            f"}}\nstruct Args {{ {' '.join(fields)} {out}* out; u64 n; }};",
            'extern "C" __global__ void vg_main(const __grid_constant__ Args a) {',
            "  u64 threads = (u64)gridDim.x * blockDim.x;",
            "  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < a.n; i += threads) {",
            *calls,
            "  }\n}\n",
        ]
    )


def on_device(
    functions: Sequence[External], columns: Sequence[Array], dtype: str, device: Any
) -> list[Array]:
    """What the translations give for each row, all of them in one kernel."""
    rows = len(columns[0])
    with device.current():
        kernel = device.load(device.compile(text_of(functions, columns, dtype)))
        arrays = [*map(device.upload, columns), device.zeros((len(functions) * rows,), np.dtype(dtype))]
        words = np.array([*map(device.address, arrays), rows], np.uint64)
        launch = device.launch(kernel, words, 1)
        while not launch.done():
            time.sleep(0.0002)
        return list(device.download(arrays[-1]).reshape(len(functions), rows))

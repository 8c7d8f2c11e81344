"""What reductions begin with changes no value, to the bit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vgraph.compiler import arithmetic
from vgraph.compiler.ir.reductions import neutral
from vgraph.compiler.types import BOOL, F32, F64, I32, I64, U32, U64, Scalar, Target

NUMBERS = {"+", "*", "min", "max"}
BITS = {"|", "&"}
VALUES = (0, 1, -1, 7, 2**31 - 1, -(2**31), 2**64 - 1, 0.0, -0.0, 0.1, math.inf, -math.inf, math.nan)


@pytest.mark.parametrize("t", [BOOL, I32, I64, U32, U64, F32, F64], ids=str)
def test_the_identity_of_every_reduction(t: Scalar) -> None:
    dtype = np.dtype(Target().numpy_name(t))
    operations = NUMBERS if t.is_float else BITS | {"min", "max"} if t == BOOL else NUMBERS | BITS
    whole = [v for v in VALUES if t.is_float or isinstance(v, int)]
    for op in operations:
        begin = arithmetic.constant(neutral(op, t), dtype)
        for value in (arithmetic.constant(v, dtype) for v in whole):
            with arithmetic.quiet():
                assert arithmetic.BINARY[op](begin, value).tobytes() == value.tobytes(), (op, value)

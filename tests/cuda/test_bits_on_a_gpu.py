"""`vg.popcount`, `vg.ctz` and `vg.clz` on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bits import check_bits


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
def test_counts(dtype: Any) -> None:
    check_bits(dtype, device="cuda")

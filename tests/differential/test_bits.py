"""`vg.popcount`, `vg.ctz` and `vg.clz` on every device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bits import check_bits


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
@pytest.mark.parametrize("device", [{"device": "python"}, {"threads": 1}, {"threads": 2}, {"checked": True}])
def test_counts(dtype: Any, device: dict[str, Any]) -> None:
    check_bits(dtype, **device)

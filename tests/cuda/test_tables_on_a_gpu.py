"""Arrays as parameters on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tables import ARRAYS, EMPTY, check_lookups


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    ("dtype", "arrays"),
    [(np.int32, ARRAYS), (np.uint64, ARRAYS), (np.int64, EMPTY)],
    ids=["int32", "uint64", "empty"],
)
def test_lookups(dtype: Any, arrays: dict[str, Any]) -> None:
    check_lookups(dtype, arrays, device="cuda")

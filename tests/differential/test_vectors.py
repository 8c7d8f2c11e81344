"""Comparisons and extremes of vectors on every device."""

from __future__ import annotations

from typing import Any

import pytest
from vectors import check_vectors


@pytest.mark.parametrize("device", [{"device": "python"}, {"threads": 1}, {"threads": 2}, {"checked": True}])
def test_vectors(device: dict[str, Any]) -> None:
    check_vectors(**device)

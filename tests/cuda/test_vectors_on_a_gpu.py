"""Comparisons and extremes of vectors on a GPU."""

from __future__ import annotations

import pytest
from vectors import check_vectors


@pytest.mark.usefixtures("gpu")
def test_vectors() -> None:
    check_vectors(device="cuda")

"""Tests of NetworkX's own suite that cannot pass with this backend, and why: the one table of them."""

from __future__ import annotations

from typing import Any

EXPECTED: dict[str, str] = {}
"""The reason by the end of a test's id: `test_pagerank.py::TestPageRank::test_numpy`."""


def mark(items: list[Any]) -> None:
    """Mark the tests in the table as expected failures."""
    import pytest

    for item in items:
        for end, reason in EXPECTED.items():
            if item.nodeid.endswith(end):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))

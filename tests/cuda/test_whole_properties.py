"""Whole properties on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from whole_programs import TABLE, expected_kinds, expected_orders, graph_of, kinds, orders, same

import vgraph as vg


@pytest.mark.slow
def test_types_and_operations(gpu: Any) -> None:
    graph, given = graph_of(70), np.random.default_rng(1).random(70)
    found = vg.run(kinds, graph, given=given, table=TABLE, source=9, device="cuda")
    same(found, expected_kinds(graph, given, 9, 0.5))


def test_what_depends_on_what(gpu: Any) -> None:
    graph = graph_of(70)
    same(vg.run(orders, graph, device="cuda"), expected_orders(graph))

"""Algorithms that call algorithms, on a GPU, against the reference interpreter."""

from __future__ import annotations

from typing import Any

import called_programs as programs
import pytest
from matrix import agree
from schedule_matrix import Case, Kind, graph_of

import vgraph as vg

CALLS: dict[str, dict[str, Any]] = {"within": {"source": 3}, "marked": {"seeds": [1, 4, 4]}}


@pytest.mark.parametrize("name", CALLS)
def test_called(name: str, gpu: Any) -> None:
    algorithm, graph = getattr(programs, name), graph_of("loops", Kind(True, "int32"), 5)
    case = Case(name, graph, CALLS[name], vg.run(algorithm, graph, device="python", **CALLS[name]))
    agree(algorithm, case, vg.Schedule(), gpu, 0)

"""The CUDA C++ of three algorithms, to be read: `pytest --update-golden` accepts what the emitter makes of them now."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from matrix import ALGORITHMS
from schedule_matrix import Kind, graph_of
from test_library_compiles import text_of

import vgraph as vg

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", ["bfs", "sssp", "pagerank"])
def test_text(name: str, golden: Callable[[Path, str], None]) -> None:
    algorithm = next(a for a in ALGORITHMS if a.name == name)
    text = text_of(algorithm, graph_of("random", Kind(True, "int32"), 1), vg.Schedule())
    golden(GOLDEN / f"{name}.cu", text)

"""The CUDA C++ of three algorithms, to be read: `pytest --update-golden` accepts what the emitter makes of them now."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from matrix import ALGORITHMS
from schedule_matrix import Kind, graph_of
from test_library_compiles import text_of

import vgraph as vg
from vgraph.compiler.backends.cuda.backend import INCLUDE
from vgraph.compiler.backends.cuda.texts import plain_name

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", ["bfs", "sssp", "pagerank"])
def test_text(name: str, golden: Callable[[Path, str], None]) -> None:
    algorithm = next(a for a in ALGORITHMS if a.name == name)
    text = text_of(algorithm, graph_of("random", Kind(True, "int32"), 1), vg.Schedule())
    golden(GOLDEN / f"{name}.cu", text)


def test_no_name_of_the_users_hides_one_of_the_headers() -> None:
    texts = "\n".join(
        path.read_text() for path in INCLUDE.glob("*.cuh") if path.name not in ("foreign.cuh", "sort.cuh")
    )
    functions = re.findall(r"^(?:static )?VG_DEVICE [^(\n]*?(\w+)\(", texts, re.MULTILINE)
    types = re.findall(r"^(?:struct|class|constexpr \w+) (\w+)", texts, re.MULTILINE)
    assert "lookup" in functions
    assert "Frontier" in types
    assert [name for name in sorted({*functions, *types}) if plain_name(name) == name] == []

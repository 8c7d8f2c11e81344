"""Importing vgraph is quick, and brings in nothing heavy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import vgraph as vg

HEAVY = [
    "scipy",
    "lark",
    "llvmlite",
    "matplotlib",
    "networkx",
    "pandas",
    "click",
    "rich",
    "zstandard",
    "concurrent.futures",
    "logging",
    "difflib",
]


def python(code: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(Path(vg.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_import_brings_in_nothing_heavy():
    code = f"import sys, vgraph; print([name for name in {HEAVY} if name in sys.modules])"
    assert python(code) == "[]"


def test_a_program_without_faults_loads_no_refusals():
    code = (
        "import os; os.environ['VGRAPH_NO_CACHE'] = '1'; import sys, vgraph as vg;"
        "vg.run(vg.algorithms.bfs, vg.Graph.from_edges([0], [1]), source=0);"
        "print(sorted(name for name in sys.modules if name.startswith('vgraph.refusals.')))"
    )
    assert python(code) == "['vgraph.refusals.base', 'vgraph.refusals.schedules']"


def test_every_public_name_is_there():
    assert vg.__all__
    missing = [name for name in vg.__all__ if not hasattr(vg, name)]
    assert missing == []


@pytest.mark.parametrize("name", ["amsterdam", "karate", "lesmis"])
def test_bundled_graphs(name):
    assert vg.data.path(name).is_file()
    notice = (vg.data.path(name).parent / "NOTICE.md").read_text(encoding="utf-8")
    assert vg.data.path(name).name in notice


def test_an_unknown_bundled_graph():
    with pytest.raises(vg.VGraphError, match="amsterdam, karate, lesmis"):
        vg.data.path("atlantis")

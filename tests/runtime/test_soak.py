"""The soak (`benchmarks/soak.py`) for a minute instead of an hour."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="looks into /proc")
def test_memory_mappings_threads_and_files_stay_as_they_are(tmp_path):
    command = [
        sys.executable, "benchmarks/soak.py", "--seconds", "60", "--every", "2", "--programs", "40", "--loaded", "24",
    ]  # fmt: skip
    environment = os.environ | {"VGRAPH_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("flat\n")

"""Ctrl-C and exhausted memory in the middle of buckets and pipelines: the run ends, and the next one is right."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


FREED_IS_GIVEN_BACK = {
    "MALLOC_MMAP_THRESHOLD_": "400000",
    "MALLOC_TRIM_THRESHOLD_": "400000",
    "MALLOC_ARENA_MAX": "1",
}
"""To the C library: else memory of earlier runs would still be there for a run that shall have none."""


def python(*words: str) -> str:
    """What a new process prints that runs `loops.py`; it must leave nothing on stderr."""
    command = [sys.executable, str(HERE / "loops.py"), *words]
    more = {"PYTHONPATH": str(ROOT), **(FREED_IS_GIVEN_BACK if words[0] == "starve" else {})}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, timeout=600, env={**os.environ, **more}
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("loop", ["delta", "strict", "gather", "scatter"])
def test_ctrl_c_ends_the_loop_and_the_next_run_is_right(loop: str, threads: int) -> None:
    assert python("interrupt", loop, str(threads)) == "interrupted\nright\n"


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="limits the address space, tells malloc what to keep"
)
@pytest.mark.parametrize(("loop", "threads"), [("delta", 1), ("delta", 3), ("strict", 1)])
def test_buckets_that_cannot_grow_end_the_run_and_the_next_is_right(loop: str, threads: int) -> None:
    """The limit rises in small steps, so that memory ends at every place where it is asked for."""
    *refused, last = python("starve", loop, str(threads)).splitlines()
    assert last == "right"
    assert any(line.endswith("more bytes are not to be had") for line in refused)
    assert all(line.startswith("out of memory: ") for line in refused)

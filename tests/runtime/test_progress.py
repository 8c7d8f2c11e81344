"""Drawing progress."""

from __future__ import annotations

import io
import sys

import pytest

from vgraph.runtime import progress as progress_module
from vgraph.runtime.progress import Progress, ProgressBar, reporter

GLANCE = Progress(rounds=1234, frontier_size=5_000_000, edges=30_000_000, elapsed=2.0)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_text_names_rounds_frontier_and_rate():
    assert str(GLANCE) == "round 1,234  frontier 5,000,000  15.0 M edges/s  2.0 s"
    assert Progress(0, 0, 0, 0.0).edges_per_second == 0.0


def test_plain_output_gets_a_line_now_and_then():
    file = io.StringIO()
    with ProgressBar("sssp", file=file) as bar:
        for _ in range(5):
            bar(GLANCE)
    assert file.getvalue() == f"sssp: {GLANCE}\n"


def test_terminal_without_rich_is_cleared_at_the_end(monkeypatch):
    monkeypatch.setattr(progress_module, "find_spec", lambda _: None)
    file = Terminal()
    with ProgressBar("sssp", file=file) as bar:
        bar(GLANCE)
        bar(Progress(1, 2, 3, 1.0))
    parts = file.getvalue().split("\r")
    assert parts[1] == f"sssp: {GLANCE}"
    assert parts[2].startswith("sssp: round 1  ")
    assert len(parts[2]) == len(parts[1])  # overwrites the longer line
    assert parts[-2].strip() == parts[-1] == ""


def test_terminal_with_rich(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("TERM", "xterm")
    file = Terminal()
    with ProgressBar("a[b]c", file=file) as bar:
        bar(GLANCE)
        bar(GLANCE)
    assert "a[b]c: round 1,234" in file.getvalue()


def test_reporter_takes_what_run_takes(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    for nothing in (None, False):
        with reporter(nothing) as callback:
            assert callback is None
    with reporter(print) as callback:
        assert callback is print
    with reporter(True, "bfs") as callback:
        callback(GLANCE)
    assert sys.stderr.getvalue().startswith("bfs: round 1,234")

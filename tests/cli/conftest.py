"""The command line under test: run in this process, in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from vgraph.cli.main import main


@pytest.fixture
def vgraph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run `vgraph WORDS...` in an empty folder; the exit code is checked, and errors of ours pass through."""
    monkeypatch.chdir(tmp_path)

    def call(*words: object, code: int = 0) -> Result:
        result = CliRunner().invoke(main, [str(word) for word in words])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return call


@pytest.fixture
def square(tmp_path: Path) -> Path:
    """A weighted, directed cycle 0 -> 1 -> 2 -> 3 -> 0 with a shortcut 0 -> 2, and 4 alone, as DIMACS .gr."""
    file = tmp_path / "square.gr"
    arcs = [(1, 2, 1), (2, 3, 1), (3, 4, 1), (4, 1, 1), (1, 3, 5)]
    file.write_text("c a test\np sp 5 5\n" + "".join(f"a {u} {v} {w}\n" for u, v, w in arcs))
    return file

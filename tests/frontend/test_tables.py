"""The parser's tables: up to date, rebuilt where they are not, kept where they may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from vgraph import config
from vgraph.compiler.frontend import tables

HELP = "run python -m vgraph.compiler.frontend.tables"


def test_tables_are_those_of_the_grammar() -> None:
    assert tables._read(tables.TABLES, tables._key()) is not None, HELP


@pytest.mark.parametrize("writable", [True, False])
def test_another_lark_builds_and_keeps_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writable: bool
) -> None:
    monkeypatch.setattr(tables, "TABLES", tmp_path / "missing.tables")
    place = tmp_path / "cache"
    if not writable:
        place.write_text("a file where the folder should be")
    with config.scope(cache_dir=place):
        lark = tables.parser.__wrapped__()
        assert lark.parse("def f(v):\n    pass\n").data == "start"
        assert writable == any(place.glob("operator-*.tables"))
        if writable:
            monkeypatch.setattr(tables, "build", lambda: pytest.fail("built again"))
            tables.parser.__wrapped__()


def test_a_damaged_file_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "x.tables"
    path.write_bytes(tables._key() + b"not zlib")
    assert tables._read(path, tables._key()) is None
    path.write_bytes(tables.TABLES.read_bytes())
    assert tables._read(path, bytes(32)) is None

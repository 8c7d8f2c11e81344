"""The parser's tables: up to date, rebuilt where they are not, kept where they may be."""

from __future__ import annotations

import contextlib
import pickle
from pathlib import Path

import pytest

from vgraph import config
from vgraph.cache import CacheWarning
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
    told = contextlib.nullcontext() if writable else pytest.warns(CacheWarning, match="is not a folder")
    with config.scope(cache_dir=place, no_cache=False):
        with told:
            lark = tables.parser.__wrapped__()
        assert lark.parse("def f(v):\n    pass\n").data == "start"
        if writable:
            monkeypatch.setattr(tables, "build", lambda: pytest.fail("built again"))
            tables.parser.__wrapped__()


class Trap:
    """What a pickle can do to those who load it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


def test_tables_that_somebody_else_signed_are_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "TABLES", tmp_path / "missing.tables")
    sprung = tmp_path / "sprung"
    with config.scope(cache_dir=tmp_path / "cache", key_file=tmp_path / "theirs", no_cache=False):
        with monkeypatch.context() as planting:
            planting.setattr(tables, "build", lambda: pickle.dumps(Trap(sprung)))
            with pytest.raises(TypeError):
                tables.parser.__wrapped__()
    assert sprung.exists()
    sprung.unlink()
    with config.scope(cache_dir=tmp_path / "cache", key_file=tmp_path / "mine", no_cache=False):
        with pytest.warns(CacheWarning, match="not signed"):
            lark = tables.parser.__wrapped__()
    assert lark.parse("def f(v):\n    pass\n").data == "start"
    assert not sprung.exists()


def test_a_damaged_file_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "x.tables"
    path.write_bytes(tables._key() + b"not zlib")
    assert tables._read(path, tables._key()) is None
    path.write_bytes(tables.TABLES.read_bytes())
    assert tables._read(path, bytes(32)) is None

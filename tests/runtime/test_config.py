"""Knobs: reading, refusing, scoping; where the cache lies."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from vgraph import config
from vgraph.config import KnobError, Knobs, cache_directory, knobs, scope
from vgraph.errors import VGraphError


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    for field in Knobs.__dataclass_fields__:
        monkeypatch.delenv("VGRAPH_" + field.upper(), raising=False)


def test_defaults():
    assert knobs() == Knobs()


@pytest.mark.parametrize(
    ("variable", "text", "value"),
    [
        ("debug", "4", 4),
        ("debug", "", 0),
        ("device", "python", "python"),
        ("dump_dir", "/x/y", Path("/x/y")),
        ("cache_dir", "/c", Path("/c")),
        ("no_cache", "1", True),
        ("no_cache", "off", False),
        ("threads", " 7 ", 7),
        ("opt", "0", 0),
    ],
)
def test_reads_the_environment_each_time(monkeypatch, variable, text, value):
    monkeypatch.setenv("VGRAPH_" + variable.upper(), text)
    assert getattr(knobs(), variable) == value
    monkeypatch.delenv("VGRAPH_" + variable.upper())
    assert knobs() == Knobs()


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("debug", "6"),
        ("debug", "-1"),
        ("debug", "x"),
        ("threads", "0"),
        ("threads", "2.5"),
        ("opt", "4"),
        ("no_cache", "maybe"),
    ],
)
def test_bad_value_is_named(monkeypatch, variable, text):
    name = "VGRAPH_" + variable.upper()
    monkeypatch.setenv(name, text)
    with pytest.raises(KnobError, match=f"{name}='{text}': expected") as refused:
        knobs()
    assert isinstance(refused.value, VGraphError)


def test_scope_nests_and_ends():
    with scope(threads=2) as outer:
        assert outer.threads == 2
        with scope(debug=3, threads=4):
            assert (knobs().debug, knobs().threads) == (3, 4)
        assert (knobs().debug, knobs().threads) == (0, 2)
    assert knobs() == Knobs()


def test_scope_is_of_one_thread():
    seen = []
    with scope(threads=2):
        other = threading.Thread(target=lambda: seen.append(knobs().threads))
        other.start()
        other.join()
    assert seen == [None]


def test_unknown_knob_is_refused():
    with pytest.raises(TypeError, match="unknown knob 'thread'"), scope(thread=1):
        pass


def test_cache_directory(monkeypatch, tmp_path):
    monkeypatch.setattr(config.sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    assert cache_directory() == tmp_path / ".cache" / "vgraph"
    assert config.key_file() == tmp_path / ".local" / "state" / "vgraph" / "key"
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert config.key_file() == Path("/state/vgraph/key")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_directory() == Path("/xdg/vgraph")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_directory() == tmp_path / ".cache" / "vgraph"
    monkeypatch.setattr(config.sys, "platform", "darwin")
    assert cache_directory() == tmp_path / "Library" / "Caches" / "vgraph"
    monkeypatch.setenv("VGRAPH_CACHE_DIR", str(tmp_path / "mine"))
    assert cache_directory() == tmp_path / "mine"
    assert config.key_file() == tmp_path / "Library" / "Application Support" / "vgraph" / "key"
    monkeypatch.setenv("VGRAPH_KEY_FILE", str(tmp_path / "my key"))
    assert config.key_file() == tmp_path / "my key"
    assert sys.platform  # the module under test shares it; monkeypatch puts it back


def test_each_level_of_optimisation_makes_code_of_its_own(monkeypatch, tmp_path):
    import vgraph as vg
    from vgraph.runtime.devices import compiled
    from vgraph.runtime.devices.cpu import CPU

    made = []
    compile_text = CPU.compile
    monkeypatch.setattr(
        CPU, "compile", lambda self, source: made.append(compile_text(self, source)) or made[-1]
    )
    graph = vg.Graph.from_edges([0, 1], [1, 2])
    for opt in (0, 1, 3, 0, 1, 3):  # once compiled, once from the cache
        compiled._loaded.clear()
        with scope(opt=opt, cache_dir=tmp_path):
            assert vg.run(vg.algorithms.bfs, graph, source=0, threads=1).level.tolist() == [0, 1, 2]
    assert len(set(made)) == len(made) == 3

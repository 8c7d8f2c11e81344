"""The front half of the cache key: it changes with everything that changes the program."""

from __future__ import annotations

import importlib.util
import time
import weakref
from pathlib import Path
from types import ModuleType

import language_programs as programs
import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler.frontend import source_parts
from vgraph.compiler.frontend.sources import reached
from vgraph.errors import SourceError

TEXT = """
import vgraph as vg

LIMIT = 3

@vg.function
def half(x):
    return x // 2

@vg.operator
def visit(v):
    v.x = min(half(v.x), LIMIT)

@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.int32)
    graph.vertex_apply(visit)
    return x
"""


def load(path: Path, text: str) -> ModuleType:
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_same_text_same_parts(tmp_path: Path) -> None:
    first, second = load(tmp_path / "a.py", TEXT), load(tmp_path / "a.py", TEXT)
    assert source_parts(first.main) == source_parts(second.main)


@pytest.mark.parametrize(
    ("old", "new"),
    [("LIMIT = 3", "LIMIT = 4"), ("x // 2", "x // 3"), ("min(", "max("), ("vg.int32", "vg.int64")],
)
def test_a_change_anywhere_changes_them(tmp_path: Path, old: str, new: str) -> None:
    before, after = load(tmp_path / "a.py", TEXT), load(tmp_path / "b.py", TEXT.replace(old, new))
    assert [p.replace("a.", "b.") for p in source_parts(before.main)] != list(source_parts(after.main))


def test_closures_count() -> None:
    text = "\n".join(source_parts(programs.helpers))
    assert "limit = float 7.5" in text
    assert "SCALE = float32" in text
    assert "def square(x)" in text


def test_constants_of_other_modules_count() -> None:
    assert any(part.endswith("Mode.SLOW = Mode 0x2") for part in source_parts(programs.constants))


@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [
        ("main", "LIMIT", 4),
        ("main", "half", abs),
        ("main", "min", max),  # what was a builtin
        ("vgraph", "int32", vg.int64),
        ("vgraph", "vertex_apply", 5),  # what was nowhere, in a module of which something is taken
    ],
)
def test_names_are_looked_up_again_when_one_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: str, name: str, value: object
) -> None:
    module = load(tmp_path / "a.py", TEXT)
    found, parts = reached(module.main), source_parts(module.main)
    assert reached(module.main) is found
    assert source_parts(module.main) is parts
    monkeypatch.setattr(module if owner == "main" else vg, name, value, raising=False)
    assert reached(module.main) is not found
    assert source_parts(module.main) != parts
    monkeypatch.undo()
    assert source_parts(module.main) == parts


class Base:
    SIZE = 3


class Sizes(Base):
    pass


@vg.operator
def sized(v):
    v.size = Sizes.SIZE


@vg.algorithm
def all_sized(graph):
    size = graph.vertex_property(vg.int64)
    graph.vertex_apply(sized)
    return size


def test_what_a_class_inherits_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = vg.Graph.from_edges([0], [1])
    for owner, size in ((Base, 4), (Base, 5), (Sizes, 6)):
        monkeypatch.setattr(owner, "SIZE", size, raising=False)
        assert vg.run(all_sized, graph, device="python").size.tolist() == [size] * 2
        assert f"Sizes.SIZE = int {size:#x}" in source_parts(all_sized)


def test_arrays_that_are_named_like_properties_are_not_kept(tmp_path: Path) -> None:
    module = load(tmp_path / "a.py", TEXT)
    module.x = np.zeros(3)
    array = weakref.ref(module.x)
    source_parts(module.main)
    del module.x
    assert array() is None


def test_it_is_quick() -> None:
    source_parts(programs.helpers)
    times = []
    for _ in range(10):
        start = time.thread_time()
        source_parts(programs.helpers)
        times.append(time.thread_time() - start)
    assert min(times) < 0.01


def test_a_function_without_text_is_refused() -> None:
    import vgraph as vg

    scope: dict[str, object] = {}
    exec("def main(graph):\n    return 1\n", scope)
    with pytest.raises(SourceError, match="main is not available"):
        source_parts(vg.algorithm(scope["main"]))  # type: ignore[arg-type]

"""The Python blocks of README.md and docs/ run, each page as a module of its own."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from pathlib import Path

import pytest

import vgraph as vg
from vgraph.compiler.user_passes import registered
from vgraph.language.decorators import AlgorithmDef

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^\s*```(\S*)")


def python_of(page: Path) -> str:
    """The page as a Python file: its ```python blocks, every other line empty, so that line numbers agree."""
    lines, inside = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        fence = FENCE.match(line)
        if fence:
            inside = not inside and fence.group(1) == "python"
        lines.append("" if fence or not inside else line)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs(page, tmp_path, monkeypatch):
    text = python_of(page)
    if not text.strip():
        return
    file = tmp_path / f"page_{page.stem}.py"
    file.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, file.stem, module)
    try:
        spec.loader.exec_module(module)
    finally:
        for own in registered():
            own.remove()


def test_the_pages_have_code():
    written = {page.name for page in PAGES if python_of(page).strip()}
    assert {
        "README.md",
        "algorithms.md",
        "index.md",
        "tutorial.md",
        "schedules.md",
        "passes.md",
        "files.md",
    } <= written


def test_every_algorithm_has_its_section():
    text = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
    public = {name for name, value in vars(vg.algorithms).items() if inspect.isfunction(value)}
    public |= {name for name, value in vars(vg.algorithms).items() if isinstance(value, AlgorithmDef)}
    sections = set(re.findall(r"^## (\w+)$", text, flags=re.MULTILINE))
    assert sections == public >= set(vg.algorithms.__all__)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_ci_runs_the_commands_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    commands = re.findall(r"^pip install .*$", readme, flags=re.MULTILINE)
    assert len(commands) == 2
    assert all(command in script for command in commands)


def test_navigation_names_the_pages():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r": (\S+\.md)$", text, flags=re.MULTILINE))
    assert named <= {str(page.relative_to(ROOT / "docs")) for page in PAGES[1:]}
    assert {"index.md", "algorithms.md", "tutorial.md", "language.md", "schedules.md", "files.md"} <= named


def test_contributing_is_short():
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()) < 80


def test_files_that_are_named_are_there() -> None:
    """Pages for those who work on vgraph name files by the end of their paths."""
    folders = [ROOT / name for name in ("vgraph", "tests", "benchmarks", ".ci") if (ROOT / name).is_dir()]
    found = {"/" + f.relative_to(ROOT).as_posix() for folder in folders for f in folder.rglob("*.*")}
    pages = [*(ROOT / "docs/internals").glob("*.md"), ROOT / "CONTRIBUTING.md", ROOT / "tests/README.md"]
    named = {
        (page.name, path)
        for page in pages
        for path in re.findall(r"`([\w./-]+\.(?:py|cuh|loops|lark))`", page.read_text(encoding="utf-8"))
    }
    assert len(named) > 50
    assert not {at for at in named if not any(path.endswith("/" + at[1]) for path in found)}

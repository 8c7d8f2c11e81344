"""`vgraph tune`, and options of a user's pass on the command line."""

from __future__ import annotations

import pytest

import vgraph as vg
from vgraph.compiler.user_passes import registered


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("VGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    yield tmp_path / "cache"
    for own in registered():
        own.remove()


def test_tune_shows_what_it_tried(vgraph, square, folder, tmp_path):
    done = vgraph(
        "tune", "sssp", "-g", square, "--source", 0, "--budget", "300ms", "-t", 1, "--plot", "tried.png"
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "sssp on square.gr: 5 vertices, 5 arcs, directed"
    assert lines[1].startswith("sssp: ")
    assert any(line.split()[-1] == "default" for line in lines)
    assert (tmp_path / "tried.png").stat().st_size > 1000
    assert (folder / "tuning.jsonl").exists()


def test_the_schedule_is_shown_as_run_takes_it(vgraph, square, monkeypatch):
    from vgraph.runtime.tuning.outcome import Trial, Tuning

    fast = vg.Schedule().at("relax", direction=vg.PULL, drive=vg.TOPOLOGY)
    tried = (Trial(vg.Schedule(), 2.0, 5, "measured"), Trial(fast, 1.0, 5, "measured"))
    monkeypatch.setattr(vg, "autotune", lambda *_, **__: Tuning("sssp", fast, 2.0, 1.0, tried, 3.0, True))
    done = vgraph("tune", "sssp", "-g", square, "--source", 0)
    words = "--schedule 'relax: direction=pull, drive=topology'"
    assert f"use it with: {words}" in done.stdout
    vgraph("run", "sssp", "-g", square, "--source", 0, "--schedule", words[12:-1])


def test_fresh_keeps_nothing(vgraph, square, folder):
    vgraph("tune", "bfs", "-g", square, "--source", 0, "--budget", "0.1", "--fresh")
    assert not (folder / "tuning.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--source", 0, "--budget", "long"], "budget='long'"),
        (["--source", 9], "is not a vertex"),
        (["--sauce", 0], "--sauce is neither an option nor a parameter of sssp"),
        ([], "source"),
    ],
)
def test_mistakes_are_told(vgraph, square, words, message):
    assert message in vgraph("tune", "sssp", "-g", square, *words, code=2).output


PROGRAM = '''
import vgraph as vg
from vgraph.algorithms import sssp

@vg.schedule_pass(after="simplify", options={"share": float, "word": str})
def note(program, context):
    """Say what is asked."""
    context.notes.append(repr((context.option("relax", "share"), context.option("relax", "word"))))
    return program
'''


def test_options_of_a_pass_on_the_command_line(vgraph, square, tmp_path):
    file = tmp_path / "own.py"
    file.write_text(PROGRAM)
    words = ["explain", f"{file}:sssp", "-g", square, "--no-passes", "-s"]
    assert "(0.5, 'fast')" in vgraph(*words, "relax: share=0.5, word=fast").stdout
    assert "word=3 is not a string" in vgraph(*words, "relax: word=3", code=2).output
    assert "there are direction" in vgraph(*words, "relax: shares=1", code=2).output

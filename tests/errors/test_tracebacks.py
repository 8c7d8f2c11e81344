"""An error of the user's leaves vgraph with the user's frames only, as a real process prints it."""

from __future__ import annotations

import os
import pdb
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import vgraph as vg
from vgraph.config import KnobError, scope
from vgraph.errors import InternalError
from vgraph.tracebacks import public

HERE = Path(__file__).parent
ROOT = Path(vg.__file__).parents[1]
MOST_LINES = 14

# Each program of this folder, run by a line of the user's and printed as Python prints what nobody catches.
EVERY_GOLDEN = f"""
import importlib.util, sys
from pathlib import Path
import numpy as np
import vgraph as vg

both = np.array([1, 2], np.int32)
def made(way):
    length = np.array([.5, 1.])
    graph = vg.Graph.from_edges([0, 1], [1, 2], directed=way, weight=both, length=length, both=both)
    for name, values in (("height", np.zeros(3)), ("feature", np.zeros((3, 8))), ("wide", np.zeros((3, 5000)))):
        graph = graph.with_vertex_property(name, values)
    return graph

graphs = {{way: made(way) for way in (True, False)}}

def refused(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    given = {{"source": 0}} if "source" in module.main.signature.parameters else {{}}
    graph = graphs[getattr(module, "DIRECTED", True)]
    if not hasattr(module, "schedule"):
        return lambda: vg.run(module.main, graph, device="cpu", threads=1, **given)
    device, threads = getattr(module, "device", "cpu"), getattr(module, "threads", None)
    given["deterministic"] = getattr(module, "deterministic", False)
    return lambda: vg.explain(module.main, graph, module.schedule(), device=device, threads=threads, **given)

for path in sorted(Path({str(HERE)!r}).glob("**/*.py")):
    if path.stem.startswith("test_"):
        continue
    print(f"=== {{path.stem}}", file=sys.stderr)
    call = refused(path)
    try:
        call()
    except vg.VGraphError as error:
        error.__traceback__ = error.__traceback__.tb_next  # the user's line is the one in `call`
        sys.excepthook(type(error), error, error.__traceback__)
"""


def printed(code: str, folder: Path, **variables: str) -> str:
    """What a new process writes to stderr."""
    script = folder / "user.py"
    script.write_text(code, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
    return done.stderr


def files(text: str) -> list[str]:
    """The files of the frames in a printed traceback."""
    return [line.split('"')[1] for line in text.splitlines() if line.startswith('  File "')]


def test_every_golden_error_is_short_and_shows_no_frame_of_ours(tmp_path: Path) -> None:
    names = {p.stem for p in HERE.glob("**/*.py") if not p.stem.startswith("test_")}
    reports = printed(EVERY_GOLDEN, tmp_path).split("=== ")[1:]
    assert {report.split("\n")[0] for report in reports} == names
    for report in reports:
        lines = report.splitlines()[1:]
        assert lines[:1] == ["Traceback (most recent call last):"], report
        assert len(lines) <= MOST_LINES, report
        shown = files(report)
        assert shown[0] == str(tmp_path / "user.py"), report
        assert all(str(HERE) in file for file in shown[1:]), report


PROGRAM = """
import vgraph as vg

@vg.operator
def visit(v):
    v.x = v.y

@vg.algorithm
def main(graph):
    x = graph.vertex_property(vg.int32)
    graph.vertex_apply(visit)
    return x

vg.run(main, vg.Graph.from_edges([0], [1]))
"""


def test_an_error_that_nobody_catches(tmp_path: Path) -> None:
    text = printed(PROGRAM, tmp_path)
    assert len(text.splitlines()) <= MOST_LINES
    assert files(text) == [str(tmp_path / "user.py")]
    assert "vertices have no property `y`" in text


def test_the_knob_keeps_all_frames(tmp_path: Path) -> None:
    text = printed(PROGRAM, tmp_path, VGRAPH_ALL_FRAMES="1")
    assert str(ROOT / "vgraph" / "compiler" / "frontend" / "program.py") in files(text)


CALLS = {
    "from_edges": lambda: vg.Graph.from_edges([0], [-1]),
    "with_vertex_property": lambda: vg.Graph.from_edges([0], [1]).with_vertex_property("x", [1, 2, 3]),
    "schedule": lambda: vg.Schedule().at("relax", direction=3),
    "delta_stepping": lambda: vg.delta_stepping(-1.0),
    "operator": lambda: vg.operator(3),
    "vector": lambda: vg.vector(3, 3),
    "call of an algorithm": lambda: vg.algorithms.bfs(None),
    "read": lambda: vg.read("there is no such file.el"),
    "explain": lambda: vg.explain(3, 3),
    "prepare": lambda: vg.prepare(3, 3),
    "data": lambda: vg.data.path("atlantis"),
    "fail": lambda: vg.fail("no"),
    "schedule_pass": lambda: vg.schedule_pass(),
    "parameter": lambda: vg.run(vg.algorithms.bfs, vg.Graph.from_edges([0], [1]), source="x"),
}


@pytest.mark.parametrize("name", CALLS)
def test_public_functions_show_the_users_frames(name: str) -> None:
    with pytest.raises(vg.VGraphError) as caught:
        CALLS[name]()
    assert {f.filename for f in traceback.extract_tb(caught.value.__traceback__)} == {__file__}
    handled = sys.exc_info()[1]  # tests that raise between bytecodes can leave Python with one
    assert caught.value.__suppress_context__ or caught.value.__context__ is handled


def test_frames_of_the_users_callbacks_stay() -> None:
    @vg.algorithm
    def program(graph):
        x = graph.vertex_property(vg.int32)
        return x

    @program.requires
    def check(graph):
        try:
            raise LookupError("the user's own")
        except LookupError as error:
            raise vg.ParameterError("not today") from error

    with pytest.raises(vg.ParameterError) as caught:
        vg.run(program, vg.Graph.from_edges([0], [1]))
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert [f.name for f in frames] == [test_frames_of_the_users_callbacks_stay.__name__, "check"]
    assert isinstance(caught.value.__cause__, LookupError)


def test_what_the_user_was_handling_stays() -> None:
    try:
        raise LookupError("first")
    except LookupError:
        with pytest.raises(vg.VGraphError) as caught:
            vg.Graph.from_edges([0], [-1])
    assert isinstance(caught.value.__context__, LookupError)
    assert not caught.value.__suppress_context__


def test_bugs_of_ours_keep_their_frames() -> None:
    @public
    def buggy() -> None:
        raise InternalError("a bug")

    @public
    def wrong() -> None:
        raise vg.ParameterError("a mistake of the user's")

    # The functions of this file count as the user's; the decorator's own frame is one of ours.
    for call, error, door in ((buggy, InternalError, True), (wrong, vg.ParameterError, False)):
        with pytest.raises(error) as caught:
            call()
        assert ("door" in [f.name for f in traceback.extract_tb(caught.value.__traceback__)]) == door
    with scope(all_frames=True), pytest.raises(vg.ParameterError) as caught:
        wrong()
    assert "door" in [f.name for f in traceback.extract_tb(caught.value.__traceback__)]


def test_a_debugger_stops_in_the_users_frame() -> None:
    with pytest.raises(vg.VGraphError) as caught:
        vg.Graph.from_edges([0], [-1])
    debugger = pdb.Pdb()
    debugger.reset()
    stack, at = debugger.get_stack(None, caught.value.__traceback__)
    assert stack[at][0].f_code.co_filename == __file__


def test_classes_stay_what_they_are() -> None:
    assert vg.Graph.from_edges.__name__ == "from_edges"
    assert isinstance(vars(vg.Graph)["from_edges"], classmethod)
    assert vg.Schedule().at("x", direction=vg.PUSH) == vg.Schedule().at("x", direction=vg.PUSH)


def test_a_bad_knob_is_an_error_of_the_users() -> None:
    assert issubclass(KnobError, vg.VGraphError)

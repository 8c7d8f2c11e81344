"""`python -m vgraph.compiler`, the tool for textual IR."""

from __future__ import annotations

import io

import pytest
from programs import SSSP, SSSP_PUSH

from vgraph.compiler import __main__ as tool
from vgraph.compiler import ir
from vgraph.compiler.ir.rewrite import Pass
from vgraph.compiler.ir.trees import with_fields

PASSES = (
    Pass(
        "rename-it", lambda p, c: with_fields(p, {"name": "renamed"}), ir.Level.ALGORITHM, ir.Level.ALGORITHM
    ),
    Pass("break-it", lambda p, c: with_fields(p, {"frontiers": ()}), ir.Level.ALGORITHM, ir.Level.ALGORITHM),
    Pass("empty-it", lambda p, c: with_fields(p, {"body": ()}), ir.Level.ALGORITHM, ir.Level.ALGORITHM),
)


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run the tool on a text; gives the exit code, the output and the messages."""
    monkeypatch.setattr(tool, "pipeline", lambda: PASSES)

    def call(text, *options, stdin=False):
        file = tmp_path / "program.ir"
        file.write_text(text)
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        try:
            code = tool.main([*([] if stdin else [str(file)]), *options])
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.mark.parametrize("stdin", [False, True])
def test_the_text_comes_back(run, stdin):
    assert run(SSSP_PUSH, "--verify", "--level", "kernel", stdin=stdin) == (0, SSSP_PUSH, "")


def test_passes_run_by_name_and_show_what_they_gave(run):
    code, out, _ = run(SSSP, "--passes", "rename-it,empty-it", "--print-between-passes", "--verify")
    assert code == 0
    renamed = SSSP.replace("program sssp", "program renamed")
    assert out.startswith(f"# after rename-it\n{renamed}\n# after empty-it\n")
    assert out.endswith("run {\n}\nreturn dist\n")


def test_the_passes_are_listed(run):
    code, out, _ = run(SSSP, "--list")
    assert (code, out.splitlines()[0]) == (0, "rename-it  algorithm -> algorithm")


@pytest.mark.parametrize(
    ("text", "options", "code", "message"),
    [
        (SSSP, ["--passes", "nonsense"], 2, "no pass is called nonsense; the passes are rename-it, break-it"),
        (SSSP, ["--passes", "break-it", "--verify"], 1, "pass break-it broke the program"),
        (SSSP, ["--level", "kernel"], 1, "the program is at level algorithm"),
        (SSSP.replace("single(", "single(("), [], 1, "program.ir:12:"),
        (
            SSSP.replace("dist[source] = 0:i32", "dist[source] = 0:i64"),
            ["--verify"],
            1,
            "the value is i64, not i32",
        ),
    ],
)
def test_faults_are_told(run, text, options, code, message):
    found, _, err = run(text, *options)
    assert found == code
    assert message in err


def test_a_syntax_error_has_a_caret(run):
    _, _, err = run(SSSP.replace("dist[src]", "dust[src]"))
    assert err.splitlines()[1:] == [
        "7 |   dist[dst] min= (dust[src] + weight[edge])",
        "  |                   ^^^^^^^^^ no property is called dust",
    ]


def test_a_missing_file_is_told(monkeypatch):
    monkeypatch.setattr(tool, "pipeline", lambda: PASSES)
    with pytest.raises(SystemExit, match=r"nowhere\.ir"):
        tool.main(["nowhere.ir", "--passes", "all"])

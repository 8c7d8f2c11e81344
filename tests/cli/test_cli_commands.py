"""`vgraph` itself, and its commands `info`, `explain`, `list` and `demo`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vgraph as vg
from vgraph.cli.demo import central_vertex
from vgraph.cli.main import COMMANDS
from vgraph.errors import VGraphError


def test_version(vgraph):
    assert vgraph("--version").stdout == f"vgraph {vg.__version__}\n"


def test_help_lists_every_command(vgraph):
    out = vgraph("--help").stdout
    assert all(name in out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(vgraph, name):
    assert "Usage:" in vgraph(name, "--help").stdout


def test_unknown_command(vgraph):
    assert "No such command" in vgraph("walk", code=2).stderr


def test_debug_keeps_the_traceback(vgraph):
    with pytest.raises(VGraphError):
        vgraph("--debug", "run", "bfs", "-g", "karate")


def test_a_terminal_sees_no_traceback(tmp_path):
    # As installed: through the interpreter, in a process of its own.
    command = [sys.executable, "-c", "from vgraph.cli.main import main; main()", "run", "bfs", "-g", "karate"]
    environment = {**os.environ, "PYTHONPATH": str(Path(vg.__file__).parents[1])}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


# --- info ---


def test_info(vgraph, square):
    out = vgraph("info", square).stdout
    assert "5 (1 isolated)" in out
    assert "5, directed, 0 self-loops" in out
    assert "2, the largest of 4 vertices" in out
    assert "1 to 5" in out


def test_info_as_json(vgraph):
    figures = json.loads(vgraph("info", "karate", "--json").stdout)
    assert (figures["vertices"], figures["edges"], figures["directed"]) == (34, 78, False)
    assert (figures["components"], figures["largest_component"]) == (1, 34)
    degree = figures["degrees"]["degree"]
    assert (degree["min"], degree["max"]) == (1, 17)
    assert degree["mean"] == pytest.approx(2 * 78 / 34)
    assert degree["histogram"] == {"1": 1, "2-3": 17, "4-7": 11, "8-15": 3, "16-31": 2}


def test_info_of_self_loops(vgraph):
    Path("loops.el").write_text("0 0\n0 1\n1 1\n")
    figures = json.loads(vgraph("info", "loops.el", "--directed", "--json").stdout)
    assert figures["self_loops"] == 2
    assert figures["directed"]


# --- explain, list ---


def test_explain(vgraph, square):
    out = vgraph("explain", "sssp", "-g", square).stdout
    assert str(vg.explain(vg.algorithms.sssp, vg.read(square))) == out.rstrip("\n")


def test_explain_shows_the_code_on_request(vgraph, square):
    plain = vgraph("explain", "bfs", "-g", square, "--no-passes").stdout
    llvm = vgraph("explain", "bfs", "-g", square, "--no-passes", "--llvm").stdout
    assembly = vgraph("explain", "bfs", "-g", square, "--no-passes", "--asm").stdout
    assert "define" not in plain
    assert "define" in llvm
    assert len(assembly) > len(plain)


def test_list(vgraph):
    out = vgraph("list").stdout
    for name in vg.algorithms.__all__:
        assert f"{name}(" in out
    assert "damping" in out
    assert "spmm(dense, transposed=None)\n" in out  # without what a preparation fills


def test_devices(vgraph):
    assert vgraph("devices").stdout.startswith("cpu ")
    assert json.loads(vgraph("devices", "--json").stdout)[0]["kind"] == "cpu"


def test_factors_of_a_file_of_ratings(vgraph):
    Path("ratings.csv").write_text("user,item,rating\n1,2,3\n1,5,4\n4,5,2\n")
    for name in ("matrix_factorization", "alternating_least_squares", "bayesian_personalized_ranking"):
        vgraph("run", name, "-g", "ratings.csv", "--format", "ratings", "--factors", 2, "-o", "factors.npz")
        with np.load("factors.npz") as found:
            assert (found["user_factors"].shape, found["item_factors"].shape) == ((2, 2), (2, 2))
    assert "ratings have a format" in vgraph("info", "ratings.csv", code=2).stderr
    Path("ratings.txt").write_text("0 1 3\n1 0 4\n")
    told = vgraph("run", "matrix_factorization", "-g", "ratings.txt", code=2).stderr
    assert "--format ratings" in told


# --- demo ---


def test_demo(vgraph):
    out = vgraph("demo").stdout
    assert Path("vgraph-amsterdam.png").read_bytes().startswith(b"\x89PNG")
    assert "58,600 of 68,213 vertices reached" in out
    for word in ("schedule", "rounds", "read ", "compile ", "run ", "arcs/s", "OpenStreetMap"):
        assert word in out


def test_demo_from_elsewhere(vgraph):
    out = vgraph("demo", "--source", 0, "--out", "elsewhere.png").stdout
    assert "sssp from vertex 0" in out
    assert Path("elsewhere.png").exists()


def test_demo_refuses_a_vertex_that_is_none(vgraph):
    assert "68212" in vgraph("demo", "--source", 68213, code=2).stderr


def test_the_centre_is_in_the_canals():
    assert central_vertex(vg.read(vg.data.path("amsterdam"))) == 56678


def test_convert_writes_another_order(vgraph, square, tmp_path):
    out = vgraph("convert", square, "square.npz", "--reorder", "degree", "--ids", "ids.npy").stdout
    assert out == "wrote square.npz: 5 vertices, 5 arcs, directed\n"
    ids = np.load(tmp_path / "ids.npy")
    assert ids.tolist() == [0, 1, 2, 3, 4]  # 0 has two arcs, 4 none
    vgraph("convert", square, "random.npz", "--reorder", "random", "--ids", "ids.npy")
    ids = np.load(tmp_path / "ids.npy")
    assert ids.tolist() != [0, 1, 2, 3, 4]
    given, moved = vg.read(square), vg.read(tmp_path / "random.npz")
    rows = [
        sorted(zip(names[s].tolist(), names[t].tolist(), p["weight"].tolist(), strict=True))
        for (s, t, p), names in ((given.edges(), np.arange(5)), (moved.edges(), ids))
    ]
    assert rows[0] == rows[1]
    vgraph("convert", square, "same.npz", "--reorder", "auto", "--ids", "ids.npy")
    assert np.load(tmp_path / "ids.npy").tolist() == [0, 1, 2, 3, 4]
    vgraph("convert", square, "plain.el")
    assert vg.read(tmp_path / "plain.el", directed=True).num_edges == 5
    assert "the orders are" in vgraph("convert", square, "x.npz", "--reorder", "size", code=2).stderr
    assert "--reorder" in vgraph("convert", square, "x.npz", "--ids", "ids.npy", code=2).stderr

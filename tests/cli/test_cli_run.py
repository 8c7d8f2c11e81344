"""`vgraph run`: algorithms of the library and of the user, parameters, schedules, result files, pictures."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

import vgraph as vg
from vgraph.config import scope

DIST = [0, 1, 2, 3]
OWN = '''
import vgraph as vg

@vg.operator
def spread(src, edge, dst):
    """Whoever is reached reaches on."""
    dst.seen |= src.seen

@vg.algorithm
def reach(graph, start: vg.vertex):
    """Whom start reaches."""
    seen = graph.vertex_property(vg.bool_)
    seen[start] = True
    frontier = graph.frontier(start)
    while frontier:
        frontier = graph.edge_apply(spread, frontier)
    return seen
'''


def test_summary_names_the_schedule_the_work_and_the_time(vgraph, square):
    out = vgraph("run", "sssp", "--graph", square, "--source", 0).stdout
    assert "sssp on square.gr: 5 vertices, 5 arcs, directed" in out
    assert "dist: int" in out
    assert "0 to 3, 1 not reached" in out
    assert "1 round, " in out
    for word in ("read", "compile", "run"):
        assert f"{word} " in out


def test_json_summary(vgraph, square):
    report = json.loads(vgraph("run", "sssp", "-g", square, "--source=0", "--json", "--trace").stdout)
    assert report["graph"] == {"vertices": 5, "edges": 5, "directed": True}
    assert report["results"]["dist"]["max"] == 3
    assert report["results"]["dist"]["reached"] == 4
    assert report["rounds"] == len(report["trace"])
    assert all(set(options) >= {"direction", "drive"} for options in report["schedule"].values())
    assert sum(r["edges"] for r in report["trace"]) == report["edges"]
    assert set(report["seconds"]) == {"read", "compile", "prepare", "run", "waited"}


def test_what_has_not_converged_is_told(vgraph, square):
    for more, converged in ((), True), (("--max_rounds=1",), False):
        given = ("run", "pagerank", "-g", square, "--tolerance=1e-3", *more)
        assert json.loads(vgraph(*given, "--json").stdout)["converged"] is converged
        assert ("(not converged)" in vgraph(*given).stdout) is not converged


def test_npy(vgraph, square):
    vgraph("run", "sssp", "-g", square, "--source", 0, "-o", "dist.npy")
    dist = np.load("dist.npy")
    assert dist[:4].tolist() == DIST
    assert dist[4] == np.iinfo(dist.dtype).max


def test_npz_holds_every_result(vgraph, square):
    vgraph("run", "bfs", "-g", square, "--source", 0, "-o", "tree.npz")
    with np.load("tree.npz") as tree:
        assert tree["level"].tolist() == [0, 1, 1, 2, -1]
        assert tree["parent"].tolist() == [0, 0, 0, 2, -1]


def test_csv_has_a_row_per_vertex(vgraph, square):
    vgraph("run", "bfs", "-g", square, "--source", 0, "-o", "tree.csv")
    with Path("tree.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["vertex"] for row in rows] == list("01234")
    assert [row["level"] for row in rows] == ["0", "1", "1", "2", "-1"]


def test_txt_and_field(vgraph, square):
    vgraph("run", "bfs", "-g", square, "--source", 0, "-o", "level.txt", "--field", "level")
    assert Path("level.txt").read_text().split() == ["0", "1", "1", "2", "-1"]


def test_npy_of_several_results_is_refused(vgraph, square):
    result = vgraph("run", "bfs", "-g", square, "--source", 0, "-o", "tree.npy", code=2)
    assert "level, parent" in result.stderr
    assert "--field" in result.stderr


def test_unknown_field(vgraph, square):
    result = vgraph("run", "bfs", "-g", square, "--source", 0, "--field", "lvl", code=2)
    assert "level, parent" in result.stderr


def test_unknown_output_format_is_refused_before_any_work(vgraph):
    result = vgraph("run", "bfs", "-g", "karate", "--source", 0, "-o", "tree.parquet", code=2)
    assert ".npz" in result.stderr
    assert "rounds" not in result.stdout


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_devices_agree(vgraph, square, device):
    vgraph("run", "sssp", "-g", square, "--source", 0, "--device", device, "-o", "dist.npy")
    assert np.load("dist.npy")[:4].tolist() == DIST


@pytest.mark.parametrize(
    "words", ["direction=push, drive=data", "direction=pull", "direction = PUSH,frontier=bitmap"]
)
def test_schedule(vgraph, square, words):
    label = next(iter(vg.run(vg.algorithms.sssp, vg.read(square), source=0).schedule.labels))
    out = vgraph(
        "run", "sssp", "-g", square, "--source", 0, "-s", f"{label}: {words}", "-o", "dist.npy"
    ).stdout
    assert np.load("dist.npy")[:4].tolist() == DIST
    assert words.split("=")[1].split(",")[0].strip().lower() in out.lower()


@pytest.mark.parametrize(
    ("schedule", "told"),
    [
        ("relax", "label: option=value"),
        ("relax: speed=fast", "unknown schedule option 'speed'"),
        ("relax: directon=push", "did you mean 'direction'"),
        ("relax: direction=sideways", "push, pull, auto"),
        ("relax: deduplicate=maybe", "true, false"),
        ("nobody: direction=push", "nobody"),
    ],
)
def test_wrong_schedules(vgraph, square, schedule, told):
    assert told in vgraph("run", "sssp", "-g", square, "--source", 0, "-s", schedule, code=2).stderr


def test_parameters_of_all_kinds(vgraph):
    words = ["--damping=0.5", "--max-rounds", 3, "--param", "tolerance=1e-3"]
    vgraph("run", "pagerank", "-g", "karate", *words, "-o", "rank.npy")
    rank = np.load("rank.npy")
    graph = vg.read(vg.data.path("karate"), directed=False)
    expected = vg.run(vg.algorithms.pagerank, graph, damping=0.5, max_rounds=3, tolerance=1e-3).rank
    np.testing.assert_allclose(rank, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--sorce", 0], "did you mean '--source'"),
        (["--thread", 2], "did you mean '--threads'"),
        (["--source"], "needs a value"),
        (["--source", "here"], "'here' is no value"),
        (["--param", "source"], "name=value"),
        (["extra"], "unexpected argument 'extra'"),
        ([], "source"),
        (["--source", 5], "source"),
    ],
)
def test_wrong_parameters(vgraph, square, words, told):
    assert told in vgraph("run", "sssp", "-g", square, *words, code=2).stderr


def test_unknown_algorithm(vgraph, square):
    assert "did you mean 'sssp'" in vgraph("run", "ssp", "-g", square, code=2).stderr


def test_algorithm_comes_first(vgraph, square):
    assert "ALGORITHM" in vgraph("run", "--source", 0, "sssp", "-g", square, code=2).stderr


@pytest.mark.parametrize("name", ["own.py", "own.py:reach"])
def test_own_file(vgraph, square, name):
    Path("own.py").write_text(OWN)
    vgraph("run", name, "-g", square, "--start", 1, "-o", "seen.txt")
    assert Path("seen.txt").read_text().split() == ["True"] * 4 + ["False"]


def test_own_file_in_another_folder_imports_its_neighbor(vgraph, square, tmp_path):
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "vgraph_test_constants.py").write_text("LABEL = 1\n")
    (folder / "own2.py").write_text("from vgraph_test_constants import LABEL\n" + OWN)
    assert "seen" in vgraph("run", f"{folder / 'own2.py'}:reach", "-g", square, "--start", 0).stdout


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("absent.py:reach", None, "there is no file"),
        ("./reach", None, "is no Python file"),
        ("empty.py", "x = 1\n", "defines no algorithm"),
        ("own3.py:raech", OWN, "did you mean 'reach'"),
    ],
)
def test_wrong_own_file(vgraph, square, name, text, told):
    if text is not None:
        Path(name.partition(":")[0]).write_text(text)
    assert told in vgraph("run", name, "-g", square, code=2).stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import vgraph as vg\n\nx = (1\n", ["line 3", "x = (1", "SyntaxError"]),
        ("def f():\n    return nobody\n\n\nf()\n", ["line 5", "line 2", "NameError", "nobody"]),
        ("import vgraph_test_absent\n", ["line 1", "ModuleNotFoundError", "vgraph_test_absent"]),
    ],
)
def test_error_while_python_loads_an_own_file(vgraph, square, text, told):
    Path("broken.py").write_text(text)
    shown = vgraph("run", "broken.py", "-g", square, code=2).stderr
    assert shown.startswith("error: broken.py cannot be loaded\n")
    assert all(word in shown for word in told)
    assert "inputs.py" not in shown
    assert "importlib" not in shown


def test_error_in_own_program_shows_its_line(vgraph, square):
    Path("refused.py").write_text(OWN.replace("dst.seen |= src.seen", "dst.seen = src.seen"))
    told = vgraph("run", "refused.py", "-g", square, "--start", 0, code=2).stderr
    assert "dst.seen = src.seen" in told
    assert "^" in told
    assert "refused.py" in told
    assert "Traceback" not in told


def test_plot(vgraph, square):
    positions = "".join(f"v {k + 1} {k % 2} {k // 2}\n" for k in range(5))
    square.with_suffix(".co").write_text("p aux sp co 5\n" + positions)
    vgraph("run", "sssp", "-g", square, "--source", 0, "--plot", "map.png")
    assert Path("map.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("graph", "words", "told"),
    [
        ("karate", ["--plot", "map.png"], "no vertex property 'x'"),
        ("amsterdam", ["--plot", "map.foo"], "cannot be written as 'map.foo'"),
        ("amsterdam", ["--plot", "nowhere/map.png"], "there is no folder 'nowhere'"),
        ("karate", ["--out", "nowhere/level.npz"], "there is no folder 'nowhere'"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_run(vgraph, graph, words, told):
    result = vgraph("run", "bfs", "-g", graph, "--source", 0, *words, code=2)
    assert told in result.stderr
    assert not result.stdout


@pytest.mark.parametrize(
    ("text", "told"),
    [("p sp 2 1\na 1 9 1\n", "wrong.gr:2"), ("hello\n", "wrong.gr:1")],
)
def test_malformed_graph(vgraph, text, told):
    Path("wrong.gr").write_text(text)
    assert told in vgraph("run", "bfs", "-g", "wrong.gr", "--source", 0, code=2).stderr


def test_absent_graph(vgraph):
    assert "there is no file 'none.gr'" in vgraph("run", "bfs", "-g", "none.gr", "--source", 0, code=2).stderr


def test_deterministic(vgraph, square):
    report = json.loads(vgraph("run", "pagerank", "-g", square, "--deterministic", "--json").stdout)
    assert report["schedule"]["gather"]["direction"] == "pull"
    push = ("pagerank", "-g", square, "--deterministic", "-s", "gather: direction=push")
    for command in ("run", "explain"):
        assert "dst.incoming += src.part" in vgraph(command, *push, code=2).stderr


FOREVER = """
import vgraph as vg

@vg.operator
def count(src, edge, dst):
    dst.x = max(dst.x, src.x + 1)

@vg.algorithm
def forever(graph):
    x = graph.vertex_property(vg.int64)
    frontier = graph.frontier(0)
    while frontier:
        frontier = graph.edge_apply(count, frontier)
    return x
"""


DRAWN = """
import vgraph as vg

@vg.algorithm
def drawn(graph):
    graph.number = vg.random_below(1 << 50, 3)
    return graph.number
"""


def test_seed(vgraph, square, tmp_path):
    (tmp_path / "own.py").write_text(DRAWN)
    own = ("run", f"{tmp_path}/own.py:drawn", "-g", square)
    texts = [vgraph(*own, *more).stdout for more in ((), ("--seed", 0), ("--seed", 7), ("--seed", 7))]
    numbers = [next(line for line in text.splitlines() if "number" in line) for text in texts]
    assert numbers[0] == numbers[1] != numbers[2] == numbers[3]
    assert "seed=-1: an int from 0 to 2**64 - 1" in vgraph(*own, "--seed", -1, code=2).stderr


def test_max_rounds(vgraph, square, tmp_path):
    (tmp_path / "own.py").write_text(FOREVER)
    own = ("run", f"{tmp_path}/own.py:forever", "-g", square, "--undirected", "--max-rounds")
    assert "forever has not ended after max_rounds=5 rounds" in vgraph(*own, 5, code=2).stderr
    assert "max_rounds=0: an int of at least 1" in vgraph(*own, 0, code=2).stderr
    report = json.loads(vgraph("run", "pagerank", "-g", square, "--max-rounds", 1, "--json").stdout)
    assert report["rounds"] == 1  # its own parameter: no error


def test_checked(vgraph, square):
    report = json.loads(vgraph("run", "sssp", "-g", square, "--source", 0, "--checked", "--json").stdout)
    assert report["device"] == "checked"
    shown = vgraph("run", "sssp", "-g", square, "--source", 0, "--checked").stdout
    assert re.search(r"arcs walked, checked, 3 threads$", shown, re.MULTILINE)
    Path("faulty.py").write_text(
        OWN.replace("dst.seen |= src.seen", "dst.seen |= src.out_neighbors[9] == dst")
    )
    failed = vgraph("run", "faulty.py:reach", "-g", square, "--start", 0, "--checked", code=2)
    assert "there is no neighbor 9 of vertex 0" in failed.stderr
    assert "src.out_neighbors[9] == dst" in failed.stderr


def test_verify(vgraph, square):
    done = vgraph("run", "bfs", "-g", square, "--source", "0", "--verify")
    assert "bfs: the results are right" in done.stderr
    Path("own.py").write_text(OWN)
    refused = vgraph("run", "own.py", "-g", square, "--start", 0, "--verify", code=2)
    assert "no verifier" in refused.stderr


def test_warnings_are_text(vgraph, square, tmp_path, monkeypatch):
    """Those of vgraph; others are shown as Python does."""
    (tmp_path / "no_folder").touch()
    (tmp_path / "own.py").write_text(
        "import warnings\nimport vgraph as vg\nwarnings.warn('mine', UserWarning, stacklevel=1)\n"
        "@vg.algorithm\ndef none(graph):\n    x = graph.vertex_property(vg.int32)\n    return x\n"
    )
    with scope(cache_dir=tmp_path / "no_folder", no_cache=False), pytest.warns(UserWarning, match="^mine$"):
        told = vgraph("run", "own.py:none", "--graph", square).stderr
    assert "warning: no cache of compiled code: " in told
    assert "CacheWarning" not in told


def test_a_frontier_is_no_column_even_if_it_has_all_vertices(vgraph, square, tmp_path):
    (tmp_path / "own.py").write_text(
        "import vgraph as vg\n\n\n@vg.algorithm\ndef own(graph, seeds: list[vg.vertex]):\n"
        '    """All, and the seeds."""\n'
        "    x = graph.vertex_property(vg.int32, fill=7)\n    every = graph.vertices\n"
        "    some = graph.frontier(seeds)\n    return x, every, some\n"
    )
    vgraph("run", tmp_path / "own.py:own", "-g", square, "--seeds", "[2, 0]", "-o", "own.csv")
    lines = Path("own.csv").read_text().splitlines()
    assert lines[:2] == ["vertex,x", "0,7"]
    vgraph("run", tmp_path / "own.py:own", "-g", square, "--seeds", "[2, 0]", "-o", "own.npz")
    with np.load("own.npz") as found:
        assert found["some"].tolist() == [0, 2]
        assert found["every"].tolist() == list(range(len(lines) - 1))

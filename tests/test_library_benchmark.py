"""`benchmarks/library.py` and its peers, on a graph of some vertices: what is asked, answered, ended and shown."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import vgraph as vg

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    import graphs
    import tasks

    ends = np.random.default_rng(1).integers(0, 60, (2, 200))
    file = tmp_path / "tiny.npz"
    graphs.from_pairs("tiny", 60, *ends).save(file)
    graphs.from_arcs("tiny", 60, *ends).save(tasks.directed_file(file))
    return file


@pytest.fixture
def peer(request: pytest.FixtureRequest, file: Path) -> Any:
    import peers

    made = peers.Library(Path(sys.executable), request.param, file, 1, limit=30.0)
    yield made
    made.close()


def test_an_alarm_ends_what_takes_too_long() -> None:
    from limits import TooLongError, at_most

    with at_most(None), at_most(30):
        pass
    with pytest.raises(TooLongError, match=r"more than 0\.05 s"), at_most(0.05):
        time.sleep(30)
    with at_most(30):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0  # no alarm is left


@pytest.mark.parametrize("peer", ["scipy"], indirect=True)
def test_a_peer_answers_and_says_what_it_lacks(peer: Any) -> None:
    import peers

    assert len(peer.run("bfs", 2)) == 2
    process = peer._process
    with pytest.raises(peers.PeerError, match="scipy coloring: it has no coloring"):
        peer.run("coloring", 1)
    with pytest.raises(peers.PeerError, match="it has no task"):
        peer.run("task", 1)
    assert len(peer.runs("strongly_connected_components", 3)) == 3
    assert peer._process is process  # one for all requests


@pytest.mark.parametrize("peer", ["scipy", "networkx"], indirect=True)
def test_a_peer_that_is_late_is_asked_again(peer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import peers

    pytest.importorskip(peer.name)
    monkeypatch.setattr(peers, "GRACE", 0.0)
    assert peer.runs("bfs", 1)
    peer.limit = 1e-6
    with pytest.raises(peers.TooLateError, match=r"more than 1e-06 s"):
        peer.runs("sssp", 10_000)
    peer.limit = 30.0
    assert len(peer.runs("bfs", 1)) == 1


def test_an_interpreter_that_is_not_there(file: Path) -> None:
    import peers

    peer = peers.Library(file / "python", "scipy", file, 1)
    with pytest.raises(peers.PeerError, match="scipy: "):
        peer.run("bfs", 1)
    assert peers.version(file / "python", "scipy") == "missing"


@pytest.mark.parametrize("part", range(6))
def test_each_case_is_right_and_checked(file: Path, part: int) -> None:
    from cases import Instance
    from library_cases import LIBRARY

    instance = Instance.load(file)
    assert len({case.name for case in LIBRARY}) == len(LIBRARY)
    for case in LIBRARY[part::6]:
        result, seconds = case.whole(instance, 1)
        case.check(instance, result)
        assert seconds > 0


def test_a_wrong_result_is_not_timed(file: Path) -> None:
    from cases import Instance, WrongResultError
    from library_cases import LIBRARY

    instance = Instance.load(file)
    for name, field in (
        ("closeness", "centrality"),
        ("eccentricity", "eccentricity"),
        ("local_clustering", "lcc"),
    ):
        (case,) = (case for case in LIBRARY if case.name == name)
        result, _ = case.whole(instance, 1)
        result._values[field] = result._values[field] + 1
        with pytest.raises(WrongResultError):
            case.check(instance, result)
    (case,) = (case for case in LIBRARY if case.name == "spmv")
    result, _ = case.whole(instance, 1)
    result._values["product"] = result._values["product"] + 1
    with pytest.raises(vg.VerificationError):
        case.check(instance, result)


def test_every_method_of_a_library_belongs_to_a_case() -> None:
    import ast

    from library_cases import LIBRARY

    asked = {case.algorithm for case in LIBRARY}
    for file in (BENCHMARKS / "libraries").glob("[a-z]*.py"):
        classes = [node for node in ast.parse(file.read_text()).body if isinstance(node, ast.ClassDef)]
        methods = [node for made in classes for node in made.body if isinstance(node, ast.FunctionDef)]
        made = {m.name for m in methods if m.returns is not None and ast.unparse(m.returns) == "Call"}
        assert made <= asked, file


def test_lines_are_those_of_the_program() -> None:
    import library

    lines = library.lines()
    assert set(lines) == set(vg.algorithms.__all__)
    assert lines["sssp"] == {"vgraph": 46, "graphblas": 9}  # targets and all
    assert lines["connected_components"] == {"vgraph": 26}
    assert lines["closeness"]["vgraph"] > lines["eccentricity"]["vgraph"] > 15  # what they share is counted
    assert lines["triangle_count"]["graphblas"] == 7


def test_rows_and_tables(file: Path) -> None:
    """vgraph in time and too late, beside a library that has the algorithm and one that is not there."""
    import library
    import library_report
    import peers
    from cases import Instance
    from library_cases import LIBRARY

    instance = Instance.load(file)
    named = {"scipy": Path(sys.executable), "igraph": file / "python"}
    beside = {name: peers.Library(python, name, file, 1, 30.0) for name, python in named.items()}
    options = SimpleNamespace(threads=1, limit=30.0, blocks=5, trials=1)
    case = {case.name: case for case in LIBRARY}
    try:
        row: Any = library.measure(options, case["spmv"], instance, beside)
        other: Any = library.measure(options, case["katz"], instance, beside)
        options.limit = 1e-6
        late: Any = library.measure(options, case["katz"], instance, beside)
    finally:
        for peer in beside.values():
            peer.close()
    assert row.ms > 0
    assert row.ratios["scipy"] > 0
    assert row.checked
    assert row.missing.keys() == {"igraph"}
    assert other.missing["scipy"] == "it has no katz"
    assert late.ms is None
    assert late.missing == {"vgraph": "more than 1e-06 s"}
    rows = [library.asdict(row) for row in (row, other, late)]
    rows[1]["once"], rows[1]["missing"]["igraph"] = {"scipy": 31.2}, "more than 8 s"
    text = library_report.page(
        {"rows": rows, "libraries": {"scipy": "1", "igraph": "2"}, "lines": library.lines()}
    )
    assert "| katz | " in " ".join(text.split())
    assert "31 (once) | > 8 s" in " ".join(text.split())
    assert "tiny, katz: vgraph: more than 1e-06 s" in text
    assert "tiny, spmv: igraph: " in text
    rows[0]["ratios"], rows[1]["once"] = {"igraph": 2.0, "scipy": 0.5, "networkx": 0.1}, {"scipy": 0.25}
    assert list(library_report.lost(rows)) == [
        f"spmv (scipy 0.50 on tiny): {library_report.BEHIND['spmv']}",
        "katz (scipy 0.25 on tiny): not looked into",
    ]


def test_rows_measured_again_take_the_place_of_earlier_ones() -> None:
    import library

    before = [{"case": case, "graph": "a", "ms": 1.0} for case in ("bfs", "cc")]
    rows = library.kept(before, [library.Row("cc", "a", 1, 0, 1, ms=2.0), library.Row("cc", "b", 1, 0, 1)])
    assert [(row["case"], row["graph"], row["ms"]) for row in rows] == [
        ("bfs", "a", 1.0),
        ("cc", "a", 2.0),
        ("cc", "b", None),
    ]


def test_few_blocks_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    import library

    with pytest.raises(SystemExit):
        library.parse(["--blocks", "3"])
    assert "at least 5" in capsys.readouterr().err


def test_the_pages_show_the_results() -> None:
    import report

    for page in report.PAGES:
        text = page.read_text()
        assert report.fill(text, report.harness.RESULTS) == text


@pytest.mark.parametrize("peer", ["vgraph"], indirect=True)
def test_vgraph_as_a_side_gives_the_seconds_that_it_takes_itself(peer):
    first, second = peer.runs("bfs", 2)
    assert 0 < second < 1
    assert 0 < first < 30


@pytest.mark.parametrize(
    ("after", "slower"),
    [([1.0, 1.1, 1.0], False), ([1.2, 1.2, 1.3], True), ([1.0, 1.3, 1.3], False), ([1.2, 1.0, 1.0], False)],
)
def test_a_cell_is_slower_where_the_median_and_the_fastest_say_so(after, slower):
    import regress

    row = regress.row_of("bfs", "tiny", 1, [1.0, 1.0, 1.0], after)
    assert row.slower(1.05) is slower
    text, count = regress.summary([row], 1.05)
    assert count == slower
    assert ("bfs, tiny, 1 threads" in text) is slower
    assert regress.summary([], 1.05) == ("nothing was measured", 1)


def test_the_package_of_an_earlier_commit(tmp_path):
    import subprocess

    import regress

    if not (regress.HERE / ".git").exists():
        pytest.skip("no checkout")
    assert (regress.package_of("HEAD", tmp_path) / "vgraph" / "__init__.py").exists()
    with pytest.raises(subprocess.CalledProcessError):
        regress.package_of("no-such-commit", tmp_path)

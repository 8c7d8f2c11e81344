"""`benchmarks/graphalytics.py`: all validation graphs pass, and wrong answers do not."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from test_ldbc import LDBC

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    """The program as a module."""
    sys.path.insert(0, str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("graphalytics_program", BENCHMARKS / "graphalytics.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    sys.path.remove(str(BENCHMARKS))
    return module


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A data set whose ids do not ascend in the `.v` file, and whose weights have another name; 9 has no path to it."""
    (tmp_path / "small.v").write_text("9\n4\n7\n2\n")
    (tmp_path / "small.e").write_text("7 4 0.5\n4 2 1.5\n7 2 3\n")
    lines = {
        "directed": "true",
        "edge-properties.names": "cost",
        "algorithms": "bfs, cdlp, sssp, wcc",
        "bfs.source-vertex": "7",
        "sssp.source-vertex": "7",
        "sssp.weight-property": "cost",
        "cdlp.max-iterations": "5",
    }
    text = "".join(f"graph.small.{key} = {value}\n" for key, value in lines.items())
    (tmp_path / "small.properties").write_text(f"# a comment = here\n{text}")
    (tmp_path / "small-BFS").write_text(f"2 1\n4 1\n7 0\n9 {2**63 - 1}\n")
    (tmp_path / "small-SSSP").write_text("9 infinity\n7 0\n4 0.5\n2 2.0001\n")
    (tmp_path / "small-WCC").write_text("2 0\n4 0\n7 0\n9 5\n")
    return tmp_path / "small.properties"


def test_a_data_set_in_any_order_of_ids(benchmark: ModuleType, small: Path, capsys: object) -> None:
    assert benchmark.main([str(small), "--repeat", "1"]) == 0
    shown = capsys.readouterr().out  # type: ignore[attr-defined]
    assert shown.count("passed") == 3
    assert shown.count("no answer") == 1


@pytest.mark.parametrize(
    ("algorithm", "wrong"),
    [
        ("BFS", f"2 2\n4 1\n7 0\n9 {2**63 - 1}\n"),
        ("SSSP", "9 infinity\n7 0\n4 0.5\n2 2.001\n"),
        ("SSSP", "9 7\n7 0\n4 0.5\n2 2\n"),
        ("WCC", "2 0\n4 0\n7 0\n9 0\n"),
        ("WCC", "2 0\n4 1\n7 0\n9 5\n"),
    ],
)
def test_wrong_answers_are_found(
    benchmark: ModuleType, small: Path, capsys: object, algorithm: str, wrong: str
) -> None:
    (small.parent / f"small-{algorithm}").write_text(wrong)
    assert benchmark.main([str(small), "--repeat", "1", "--algorithms", algorithm.lower()]) == 1
    assert "1 vertices differ" in capsys.readouterr().out or algorithm == "WCC"  # type: ignore[attr-defined]


def test_answers_of_other_vertices(benchmark: ModuleType, small: Path) -> None:
    (small.parent / "small-WCC").write_text("2 0\n4 0\n7 0\n")
    with pytest.raises(ValueError, match="each vertex once"):
        benchmark.main([str(small), "--algorithms", "wcc"])
    with pytest.raises(SystemExit, match="none of"):
        benchmark.main([str(small), "--algorithms", "pagerank"])


def test_communities_are_named_by_ids(benchmark: ModuleType, small: Path) -> None:
    data = benchmark.load(small)
    assert data.ids.tolist() == [2, 4, 7, 9]
    label = benchmark.cdlp(data, {})
    assert np.isin(label, data.ids).all()
    assert label[3] == 9


@pytest.mark.skipif(not LDBC.is_dir(), reason="the LDBC data (../shared/data/conformance) is not there")
def test_all_validation_graphs_pass(benchmark: ModuleType) -> None:
    tested = set()
    for properties in sorted(LDBC.glob("*.properties")):
        data = benchmark.load(properties)
        for algorithm in set(data.algorithms) & benchmark.ALGORITHMS.keys():
            found, _ = benchmark.measure(algorithm, data, 1, {"threads": 2})
            assert benchmark.validate(algorithm, data, found, LDBC) == "passed", (properties, algorithm)
            tested.add((algorithm, data.graph.directed))
    assert len(tested) == 2 * len(benchmark.ALGORITHMS)

"""The pure parts of `benchmarks/gpu.py`: graphs that everybody makes alike, and the file of results."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(autouse=True)
def path(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


@pytest.mark.parametrize(("name", "edges"), [("rmat10", 10_618), ("road64", 7_288), ("urand8", 3_824)])
def test_graphs_are_the_same_everywhere(name, edges):
    import cuda_graphs

    loaded = cuda_graphs.make(name, np)
    graph = loaded.graph
    assert graph.num_edges == edges  # drawn by hashes, not by a library
    src = np.repeat(np.arange(graph.num_vertices), np.diff(graph.out.row_offsets.astype(np.int64)))
    dst, weight = graph.out.column_indices.astype(np.int64), graph.edge_properties["weight"]
    assert (src != dst).all()
    there = dict(zip(zip(src.tolist(), dst.tolist(), strict=True), weight.tolist(), strict=True))
    assert len(there) == graph.num_arcs
    assert all(there[v, u] == w for (u, v), w in there.items())
    assert len(loaded.sources) == cuda_graphs.SOURCES
    assert all(graph.out_degree[v] > 0 for v in loaded.sources)


def test_a_row_measured_again_takes_the_place_of_the_earlier():
    import gpu

    def run(date, *rows, failures=()):
        return {"date": date, "rows": [{"graph": g, "case": c} for g, c in rows], "failures": list(failures)}

    parts: dict = {}
    gpu.merge(parts, "headline", run(1, ("a", "bfs"), ("a", "cc")))
    gpu.merge(parts, "headline", run(2, ("a", "bfs"), failures=[{"graph": "b", "case": "cc"}]))
    gpu.merge(parts, "headline", run(3, ("b", "cc")))
    assert [(r["date"], len(r["rows"]), len(r["failures"])) for r in parts["headline"]] == [
        (1, 1, 0),
        (2, 1, 0),
        (3, 1, 0),
    ]


def test_what_is_chosen_beside_the_best():
    import cuda_report

    rows = [
        {"graph": "a", "case": "bfs", "ms": ms, "best": "push", "best_ms": 1.0, "tried": {"push": 1.0}}
        for ms in (1.0, 1.44)
    ]
    table = cuda_report.auto(rows)
    assert "2 cells, 1 above 1.15, geometric mean 1.20." in table
    assert "**1.44**" in table
    assert "1.000 (push)" in table


def test_files_of_several_processes_become_one(tmp_path):
    import gpu

    for graph in ("a", "b"):
        run = {"rows": [{"graph": graph, "case": "bfs"}], "failures": []}
        gpu.write(tmp_path / graph, {"auto": [run]})
    gpu.merge_files(tmp_path / "all", [tmp_path / "a", tmp_path / "none", tmp_path / "b"])
    assert [run["rows"][0]["graph"] for run in gpu.read(tmp_path / "all")["auto"]] == ["a", "b"]


def test_nothing_is_begun_behind_the_end():
    import cuda_parts

    part = cuda_parts.Part(1, (), lambda: None, until=0.0)
    with part.trying(graph="a"):
        part.timed(None, None)
    assert "no time was left" in part.failures[0]["reason"]


def test_the_docs_show_what_was_measured_on_sets():
    import devices

    rows = json.loads((BENCHMARKS / "results" / "devices.json").read_text())["rows"]
    page = (BENCHMARKS.parent / "docs" / "devices.md").read_text()
    for name, shown in devices.tables(rows).items():
        assert f"<!-- {name} -->\n{shown}\n<!-- end -->" in page, name

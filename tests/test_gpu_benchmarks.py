"""The pure parts of `benchmarks/gpu.py`: graphs that everybody makes alike, and the file of results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(autouse=True)
def path(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


@pytest.mark.parametrize(("name", "edges"), [("rmat10", 10_618), ("road64", 7_288)])
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

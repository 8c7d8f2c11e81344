"""Maximum flows of real graphs, beside SciPy's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

import vgraph as vg

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "amsterdam",
        "road/osm-rome.gr.xz",
        "road/USA-road-NY.pace.gr.xz",
        "social/wiki-Vote.txt.xz",
        "social/facebook-combined.el.xz",
        "social/soc-Slashdot0902.txt.gz",
    ],
)
def test_flows_of_real_graphs(name: str) -> None:
    """From some vertices to others, by way of two more; and from one vertex of many arcs to another."""
    path = DATA / name if "/" in name else Path(vg.data.path(name))
    if not path.exists():
        pytest.skip("the real graphs (../shared/data) are not there")
    s, t, _ = vg.read(path).edges()
    rng = np.random.default_rng(4)
    n, capacity = int(max(s.max(), t.max())) + 1, rng.integers(1, 100, s.size)
    some = rng.choice(n, (2, 50), replace=False)
    busy = np.argsort(-np.bincount(s, minlength=n) - np.bincount(t, minlength=n))[:2]
    ends = np.r_[s, np.full(50, n), some[1]], np.r_[t, some[0], np.full(50, n + 1)]
    capacity = np.r_[capacity, np.full(100, 1000)]
    graph = vg.Graph.from_edges(*ends, num_vertices=n + 2, capacity=capacity)
    matrix = csr_array((capacity.astype(np.int32), ends), shape=(n + 2, n + 2))
    matrix.sum_duplicates()
    for source, sink in ((n, n + 1), busy.tolist()):
        result = vg.run(vg.algorithms.max_flow, graph, source=source, sink=sink, threads=2)
        assert result.value == maximum_flow(matrix, source, sink).flow_value
        vg.verify(result)

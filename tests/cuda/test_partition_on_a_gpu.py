"""The partitioner's programs on a GPU give the parts that they give on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg


@pytest.mark.slow
def test_parts_are_those_of_the_cpu(gpu):
    rng = np.random.default_rng(4)
    ends = rng.integers(0, 400, (2, 1200))
    graph = vg.Graph.from_edges(*ends, directed=False, weight=rng.integers(1, 5, 1200))
    for k in (2, 6):
        found = vg.partition(graph, k, edge_weight="weight", device="cuda")
        assert (found.parts == vg.partition(graph, k, edge_weight="weight", threads=1).parts).all()

"""`hubs`: algorithms that compare neighbor lists give the same with bitmaps of hubs, few enough that lists go on."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg
from vgraph import algorithms


@pytest.mark.parametrize("hubs", [3, 100])
@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("jaccard", "compare"),
        ("adamic_adar", "compare"),
        ("k_truss", "count"),
        ("square_clustering", "close"),
        ("local_clustering", "count_between"),
        ("triangle_count", "count"),
    ],
)
def test_the_same_by_bitmaps(name: str, label: str, hubs: int) -> None:
    rng = np.random.default_rng(hubs)
    ends = (rng.random((2, 900)) ** 2 * 120).astype(int)
    graph = vg.Graph.from_edges(*ends, num_vertices=120, directed=False)
    pairs = {"left": rng.integers(0, 120, 200), "right": rng.integers(0, 120, 200)}
    given = pairs if name in ("jaccard", "adamic_adar") else {}
    found, wanted = (
        vg.run(getattr(algorithms, name), graph, threads=2, schedule=schedule, **given)
        for schedule in (vg.Schedule().at(label, hubs=hubs), vg.Schedule())
    )
    assert f"hubs={hubs}" in str(found.schedule)
    assert any(layout.name == f"out_hubs.{hubs}" for layout in found.stats.layouts)
    for key in wanted.names:
        np.testing.assert_allclose(getattr(found, key), getattr(wanted, key), rtol=1e-12, err_msg=key)

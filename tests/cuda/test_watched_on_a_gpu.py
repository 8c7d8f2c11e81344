"""`vg.run(..., debug=vertices)` on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from test_watched import GRAPH, check, paths

import vgraph as vg


def test_values_of_vertices_after_each_round(gpu: Any) -> None:
    given: dict[str, Any] = {"source": 3, "debug": [5, 3, 39]}
    wanted = vg.run(paths, GRAPH, device="python", **given)
    for form in ({}, {"direction": vg.PULL}):
        schedule = vg.Schedule().at("relax", **form)
        found = vg.run(paths, GRAPH, device="cuda", schedule=schedule, output="cupy", **given)
        assert all(isinstance(values, np.ndarray) for values in found.trace.watched.values.values())
        check(found, wanted)

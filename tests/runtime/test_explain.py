"""`vg.explain`: which schedules are legal, and which line forbids the rest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from library import arguments_for, graph_for

import vgraph as vg
from vgraph.runtime.explain import legal_text
from vgraph.schedule import AXES

HERE = Path(__file__).parent
GRAPH = vg.Graph.from_edges([0, 1], [1, 2], weight=np.array([1, 2], np.int32))


@pytest.mark.parametrize("name", ["sssp", "bfs", "pagerank"])
def test_legal_schedules(name: str, golden: Callable[[Path, str], None]) -> None:
    explained = vg.explain(getattr(vg.algorithms, name), GRAPH, passes=False, threads=2)
    text = legal_text(explained.legal)
    assert f"== legal schedules ==\n{text}" in str(explained)
    golden(HERE / "golden" / f"legal-{name}.txt", text + "\n")


@pytest.mark.parametrize("name", vg.algorithms.__all__)
def test_a_refusal_is_explained_by_the_line_that_forbids(name: str) -> None:
    """Each value that stands there as forbidden is refused by a run, with the same line."""
    algorithm = getattr(vg.algorithms, name)
    graph = graph_for(algorithm, GRAPH)
    explained = vg.explain(algorithm, graph, passes=False, threads=2)
    given = arguments_for(algorithm, graph)
    some = [(label, verdicts[-1]) for label, axes in explained.legal.items() for verdicts in axes.values()]
    assert {axis for axes in explained.legal.values() for axis in axes} == set(AXES)
    for label, verdict in some:
        schedule = vg.Schedule().at(label, **{verdict.axis: verdict.value})
        if verdict.refusal is None:
            vg.explain(algorithm, graph, schedule=schedule, passes=False, threads=2)
            continue
        with pytest.raises(vg.ScheduleError) as caught:
            vg.run(algorithm, graph, schedule=schedule, threads=2, **given)
        assert str(caught.value) == str(verdict.refusal)
        assert verdict.span is not None
        line = f":{verdict.span.line}: {verdict.span.source.line(verdict.span.line).strip()}"
        assert line in str(explained)


def test_what_was_asked_for_does_not_change_what_is_legal() -> None:
    plain = vg.explain(vg.algorithms.sssp, GRAPH, threads=2)
    pulled = vg.explain(vg.algorithms.sssp, GRAPH, vg.Schedule().at("relax", direction=vg.PULL), threads=2)
    assert legal_text(plain.legal) == legal_text(pulled.legal)
    assert plain.schedule != pulled.schedule

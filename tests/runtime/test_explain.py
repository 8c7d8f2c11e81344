"""`vg.explain`: which schedules are legal, and which line forbids the rest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from library_arguments import arguments_for, graph_for, library, prepared

import vgraph as vg
from vgraph.compiler import Compiled, build
from vgraph.compiler.frontend import build_program
from vgraph.runtime.devices.cpu import backend
from vgraph.runtime.explain import legal_text
from vgraph.runtime.policy import facts_of
from vgraph.schedule import AXES

HERE = Path(__file__).parent
GRAPH = vg.Graph.from_edges([0, 1], [1, 2], weight=np.array([1, 2], np.int32))


@pytest.mark.parametrize("name", ["sssp", "bfs", "pagerank"])
def test_legal_schedules(name: str, golden: Callable[[Path, str], None]) -> None:
    explained = vg.explain(getattr(vg.algorithms, name), GRAPH, passes=False, threads=2)
    text = legal_text(explained.legal)
    assert f"== legal schedules ==\n{text}" in str(explained)
    golden(HERE / "golden" / f"legal-{name}.txt", text + "\n")


@pytest.mark.parametrize("algorithm", library())
def test_a_refusal_is_explained_by_the_line_that_forbids(algorithm: vg.AlgorithmDef) -> None:
    """Each value that stands there as forbidden is refused by a run, with the same line; the others are accepted."""
    graph = graph_for(algorithm, GRAPH)
    given = arguments_for(algorithm, graph)
    explained = vg.explain(algorithm, graph, passes=False, threads=2, **given)
    some = [(label, verdicts[-1]) for label, axes in explained.legal.items() for verdicts in axes.values()]
    assert {axis for axes in explained.legal.values() for axis in axes} == set(AXES)
    shown = str(explained)
    accepted: dict[str, vg.Schedule] = {}
    for label, verdict in some:
        asked = {verdict.axis: verdict.value}
        if verdict.refusal is None:
            accepted[verdict.axis] = accepted.get(verdict.axis, vg.Schedule()).at(label, **asked)
            continue
        schedule = vg.Schedule().at(label, **asked)
        with pytest.raises(vg.ScheduleError) as caught:
            vg.run(algorithm, graph, schedule=schedule, threads=2, **given)
        assert str(caught.value) == str(verdict.refusal)
        assert verdict.span is not None
        line = f":{verdict.span.line}: {verdict.span.source.line(verdict.span.line).strip()}"
        assert line in shown
    for schedule in accepted.values():
        compiled(algorithm, graph, given, schedule)


def compiled(
    algorithm: vg.AlgorithmDef, graph: vg.Graph, given: dict[str, Any], schedule: vg.Schedule
) -> Compiled:
    """What a run would compile; `vg.explain` would search all that is legal each time."""
    taken, signature = prepared(algorithm, graph, given)
    return build(build_program(algorithm, signature), backend(), schedule=schedule, facts=facts_of(taken))


def test_what_was_asked_for_does_not_change_what_is_legal() -> None:
    plain = vg.explain(vg.algorithms.sssp, GRAPH, threads=2)
    pulled = vg.explain(vg.algorithms.sssp, GRAPH, vg.Schedule().at("relax", direction=vg.PULL), threads=2)
    assert legal_text(plain.legal) == legal_text(pulled.legal)
    assert plain.schedule != pulled.schedule


def test_a_property_that_lacks_is_named_without_arguments_too() -> None:
    with pytest.raises(vg.VGraphError, match="no edge property 'capacity'"):
        vg.explain(vg.algorithms.max_flow, vg.Graph.from_edges([0], [1]), passes=False)

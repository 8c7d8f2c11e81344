"""Schedules come back: as text, as words of the command line, as JSON, and from the result of a run."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from library_arguments import NAMES, arguments_for, graph_for, prepared

import vgraph as vg
from vgraph.cli.inputs import parse_schedule
from vgraph.compiler import space
from vgraph.compiler.frontend import build_program
from vgraph.compiler.ir.rewrite import Context
from vgraph.runtime.policy import facts_of
from vgraph.schedule import AXES, Balance, Options, Order, show, spelled

ANY_DELTA = st.one_of(st.integers(1, 10**20), st.floats(min_value=1e-300, allow_infinity=False))


def values(name: str) -> st.SearchStrategy[object]:
    """Whatever may be asked for of an axis: its candidates, and other numbers where it takes numbers."""
    some: st.SearchStrategy[object] = st.sampled_from(AXES[name].candidates)
    if AXES[name].words.bounds is not None:
        return st.integers(*AXES[name].words.bounds)
    if name == "order":
        return some | ANY_DELTA.map(vg.delta_stepping)
    return some | st.integers(1, 2**40).map(vg.SPLIT) if name == "balance" else some


OPTIONS = st.fixed_dictionaries({}, optional={name: values(name) for name in AXES})
SCHEDULES = st.dictionaries(st.sampled_from(["relax", "two words", "a.b"]), OPTIONS, min_size=1)


@given(SCHEDULES)
def test_schedules_survive_json_and_words(rows: dict[str, dict[str, Any]]) -> None:
    schedule = vg.Schedule()
    for label, options in rows.items():
        schedule = schedule.at(label, **options)
    for options in schedule.labels.values():
        assert Options.from_json(json.loads(json.dumps(options.to_json()))) == options
    words = [
        f"{label}: {', '.join(f'{k}={show(v)}' for k, v in options.given().items())}"
        for label, options in schedule.labels.items()
    ]
    assert parse_schedule(words) == schedule


@given(SCHEDULES)
def test_the_text_of_a_schedule_can_be_given_to_the_command_line(rows: dict[str, dict[str, Any]]) -> None:
    """What goes without saying is not written, and nothing else is lost."""
    schedule, brief = vg.Schedule(), vg.Schedule()
    for label, options in rows.items():
        schedule, brief = schedule.at(label, **options), brief.at(label, **options)
    lines = [line for line in str(schedule).splitlines() if not line.endswith(": auto")]
    read = parse_schedule(lines) or vg.Schedule()
    for label, options in schedule.labels.items():
        before, after = options.given(), read.labels.get(label, Options()).given()
        assert all(before[k] == v for k, v in after.items())
        assert all(show(before[k]) in REST for k in before.keys() - after.keys())
    shown = [line for line in str(read).splitlines() if not line.endswith("auto")]
    again = parse_schedule(shown) or vg.Schedule()
    assert again.labels == {label: o for label, o in read.labels.items() if o.given()}


def test_what_was_asked_for_is_written_and_what_goes_without_saying_is_not() -> None:
    asked = vg.Schedule().at("relax", order=vg.UNORDERED)
    assert str(asked) == "relax: order=unordered"
    graph = vg.Graph.from_edges([0, 1], [1, 2], weight=[1, 2])
    ran = vg.run(vg.algorithms.sssp, graph, source=0, schedule=asked).schedule
    assert str(ran) == (
        "relax: direction=push, phases=fused, drive=data, frontier=sparse, sync=async, deduplicate=true"
    )


REST = {show(axis.rest) for axis in AXES.values() if axis.unsaid}
"""How the values are shown that are not written."""


@pytest.mark.parametrize("name", AXES)
def test_a_value_as_a_program_writes_it(name: str) -> None:
    for value in AXES[name].candidates:
        assert eval(spelled(value, "vg."), {"vg": vg}) == value


@given(values("order") | values("balance"))
def test_orders_and_balances_as_a_program_writes_them(value: Order | Balance) -> None:
    assert eval(spelled(value, "vg."), {"vg": vg}) == value


@pytest.mark.parametrize(
    "text",
    ["order=unordered(3)", "order=delta(0)", "order=delta(-1)", "order=delta(x)", "balance=vertex(4)",
     "balance=split(0)", "balance=split(1.5)", "segments=0", "pipeline=-1", "direction=both", "order="],
)  # fmt: skip
def test_words_that_mean_nothing_are_refused(text: str) -> None:
    with pytest.raises(vg.ScheduleError):
        parse_schedule([f"relax: {text}"])


@pytest.mark.parametrize("text", ["delta", "delta()", "delta_stepping()"])
def test_the_default_width(text: str) -> None:
    assert parse_schedule([f"relax: order={text}"]) == vg.Schedule().at("relax", order=vg.delta_stepping())


# --- from runs --------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(5)
GRAPH = vg.Graph.from_edges(
    RNG.integers(0, 60, 200), RNG.integers(0, 60, 200), directed=False, weight=RNG.integers(1, 9, 200)
)


@pytest.mark.covering
@pytest.mark.parametrize("threads", [2, 1])
@pytest.mark.parametrize("name", NAMES)
def test_the_schedule_of_a_result_gives_the_run_again(name: str, threads: int) -> None:
    algorithm = getattr(vg.algorithms, name)
    taken = graph_for(algorithm, GRAPH)
    given = arguments_for(algorithm, taken)
    graph, signature = prepared(algorithm, taken, given)
    context = Context(threads=threads % 2, facts=facts_of(graph))
    program = space.ready(build_program(algorithm, signature), context)
    whole = [None, *space.sample(program, context, 1, seed=threads)]
    for asked in whole[len(name) % 2 :] or whole:  # every other algorithm with what is chosen as well
        first = vg.run(algorithm, taken, schedule=asked, threads=threads, **given)
        again = vg.run(algorithm, taken, schedule=first.schedule, threads=threads, **given)
        assert again.schedule == first.schedule
        assert [r.direction for r in again.trace][:1] == [r.direction for r in first.trace][:1]
        if asked is None:
            assert resolved(program, context, first.schedule) == resolved(program, context, vg.Schedule())
        else:
            assert resolved(program, context, first.schedule) == resolved(program, context, asked)


def resolved(program: Any, context: Context, schedule: vg.Schedule) -> list[object]:
    """The complete schedules of all applies."""
    found = []
    for name in space.labels(program):
        schedules, error = space.Label(program, name, context).attempt(schedule.labels.get(name, Options()))
        assert error is None
        # A result names the width that its buckets had; asked for, a width may be left to the graph.
        found.append([replace(s, order=Order(s.order.kind)) for s in schedules])
    return found


@vg.operator
def relax(src, edge, dst):
    dst.dist = min(dst.dist, src.dist + edge.weight)


@vg.algorithm
def two_applies(graph, source: vg.vertex):
    """One label, once for the whole graph and once for a frontier: they cannot all be asked for the same."""
    dist = graph.vertex_property(vg.int64, fill=1000)
    dist[source] = 0
    graph.edge_apply(relax)
    frontier = graph.vertices
    while frontier:
        frontier = graph.edge_apply(relax, frontier)
    return dist


def test_a_label_with_different_applies() -> None:
    first = vg.run(two_applies, GRAPH, source=0, threads=2)
    again = vg.run(two_applies, GRAPH, source=0, threads=2, schedule=first.schedule)
    assert again.schedule == first.schedule
    assert [r.direction for r in again.trace] == [r.direction for r in first.trace]
    np.testing.assert_array_equal(again.dist, first.dist)

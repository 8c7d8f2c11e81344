"""The space of schedules: complete, without repetition, and asked of the resolvers alone."""

from __future__ import annotations

import random
import re
from functools import cache
from importlib import import_module
from inspect import getsource
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from lowering_programs import PROGRAMS

import vgraph as vg
from vgraph.compiler import ir, space
from vgraph.compiler.abilities import CPU, CPU_SET, CUDA, CUDA_SET, Abilities
from vgraph.compiler.facts import Facts
from vgraph.compiler.ir.rewrite import Context
from vgraph.compiler.ir.text import parse_program
from vgraph.compiler.passes.choose_schedule import labels
from vgraph.errors import ScheduleError
from vgraph.refusals.schedules import IllegalSchedule, NoExclusiveEdges
from vgraph.schedule import ASYNC, AXES, ApplySchedule, Axis, Need, Options, show

ROOT = Path(__file__).parents[2]


@cache
def program_of(name: str) -> ir.Program:
    return space.ready(parse_program(PROGRAMS[name]), Context())


def test_every_axis_has_candidates() -> None:
    for axis in AXES.values():
        values = (*axis.candidates, *axis.numbers)
        assert len(set(values)) == len(values) >= 2
        assert all(axis.check(v) == v != axis.auto for v in values)


@pytest.mark.parametrize("axis", AXES.values(), ids=lambda axis: axis.name)
def test_a_record_is_whole(axis: Axis) -> None:
    """An axis has words and texts, a resolver in the file of its name, a page, and code that it changes."""
    assert axis.name in vg.Schedule.at.__doc__
    assert axis.words.meant
    assert axis.words.takes
    assert axis.words.choices or axis.words.form or axis.words.bounds
    assert axis.rest is None or axis.rest in axis.candidates
    bucket = [need for need in AXES["order"].needs if need.axis == axis.name]
    assert len(bucket) == (axis.name != "order" and axis.lack(None, "cpu") is None)
    assert import_module(f"vgraph.compiler.axes.{axis.name}").choose.__doc__
    assert f"`{axis.name}" in (ROOT / "docs" / "schedules.md").read_text(encoding="utf-8")
    properties = {n: x for n, x in vars(ApplySchedule).items() if isinstance(x, property)}
    made = [n for n, x in properties.items() if f"self.{axis.name}" in getsource(x.fget)]
    read = re.compile(rf"\b(schedule|plan|chosen)\.({'|'.join([axis.name, *made])})\b")
    passes = (ROOT / "vgraph" / "compiler" / "passes").glob("*.py")
    assert any(read.search(path.read_text(encoding="utf-8")) for path in passes), "no pass looks at it"


def test_a_resolver_belongs_to_an_axis() -> None:
    files = {p.stem for p in (ROOT / "vgraph" / "compiler" / "axes").glob("*.py")}
    resolvers = {n for n in files if hasattr(import_module(f"vgraph.compiler.axes.{n}"), "choose")}
    assert resolvers == set(AXES)


def refusals(device: Abilities, **asked: Any) -> set[str]:
    """Why these options are refused, by the programs; an empty text where they are not."""
    found = set()
    for name in PROGRAMS:
        for label in labels(program_of(name)):
            here = space.Label(program_of(name), label, Context(abilities=device))
            error = here.attempt(Options(**asked))[1]
            if isinstance(error, NoExclusiveEdges):
                continue  # the device does not run the program at all
            found.add("" if error is None else str(getattr(error, "reason", error)))
    return found


def able(axis: Axis, device: str = "cpu") -> list[Any]:
    return [v for v in axis.candidates if v == axis.rest or axis.lack(v, device) is None]


@pytest.mark.parametrize(
    ("axis", "need"), [pytest.param(a, n, id=f"{a.name}-{n.axis}") for a in AXES.values() for n in a.needs]
)
def test_what_a_record_excludes_is_refused_by_all_programs_and_for_its_reason(axis: Axis, need: Need) -> None:
    both, reasons = (axis, AXES[need.axis]), set()

    def clashes(device: Abilities) -> list[tuple[Any, Any]]:
        pairs = product(*(able(a, device.device) for a in both))
        return [(v, w) for v, w in pairs if axis.has(need, v) and w not in need.values]

    device = next(d for d in (CPU, CUDA, CPU_SET) if need.holds_on(d.device) and clashes(d))
    for value, other in clashes(device):
        met = {
            n.axis: n.values[0]
            for a, v in ((both[1], other), (axis, value))
            for n in a.needs
            if n.axis not in (need.axis, axis.name) and n.holds_on(device.device) and a.has(n, v)
        }
        found = refusals(device, **met, **{axis.name: value, need.axis: other})
        assert "" not in found, (value, other)
        reasons |= found & {need.reason.format(show(other))}
    assert reasons


@pytest.mark.parametrize("device", [CPU, CUDA, CPU_SET, CUDA_SET], ids=lambda device: device.device)
def test_what_a_device_lacks_is_refused_by_all_programs(device: Abilities) -> None:
    for axis in AXES.values():
        for value in (v for v in axis.candidates if v != axis.rest):
            lack = axis.lack(value, device.device)
            if lack is not None:
                assert refusals(device, **{axis.name: value}) == {lack.reason}


def test_it_is_told_where_sync_makes_no_difference() -> None:
    for name, same in (("sums", True), ("sssp", False)):
        program = program_of(name)
        here = space.Label(program, labels(program)[0], Context())
        (found,), _ = here.attempt(Options(sync=ASYNC))
        reasons = " ".join(found.reasons)
        assert ("the code is that of sync=bsp" in reasons) == same, reasons


@pytest.mark.parametrize("device", [CPU, CUDA], ids=["cpu", "cuda"])
@pytest.mark.parametrize("facts", [Facts(large=True, hubs=True, segments=8), Facts(large=True, deep=True)])
def test_what_is_chosen_for_a_large_graph_leaves_legal_what_is_asked(facts: Facts, device: Abilities) -> None:
    for name in ("sums", "bfs", "sssp"):
        program = program_of(name)
        for label in labels(program):
            small = space.Label(program, label, Context(abilities=device))
            large = space.Label(program, label, Context(abilities=device, facts=facts))
            for options in (Options(**{a.name: v}) for a in AXES.values() for v in a.candidates):
                legal = small.attempt(options)[1] is None
                assert (large.attempt(options)[1] is None) == legal, options


@pytest.mark.covering
@pytest.mark.parametrize("device", [CPU, CUDA_SET], ids=lambda device: device.device)
@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_refused_stays_so_with_options_on_which_that_does_not_depend(
    name: str, deterministic: bool, device: Abilities
) -> None:
    """All that is asked alone, and some pairs: what has to be tried to make it legal is found by this."""
    program, rng = program_of(name), random.Random(name)
    every = [(a.name, v) for a in AXES.values() for v in a.candidates]
    for label in labels(program):
        here = space.Label(program, label, Context(deterministic=deterministic, abilities=device))
        pairs = [dict(rng.sample(every, 2)) for _ in range(len(every))]
        for asked in [*({axis: v} for axis, v in every), *pairs]:
            error = here.attempt(Options(**asked))[1]
            if isinstance(error, IllegalSchedule):
                assert error.leans & asked.keys() or (deterministic and error.leans)
                others = [(axis, v) for axis, v in every if axis not in {*error.leans, *asked}]
                for axis, v in rng.sample(others, min(20, len(others))):
                    assert here.attempt(Options(**asked, **{axis: v}))[1] is not None, (asked, axis, v)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_verdict_is_what_the_resolvers_say(name: str) -> None:
    program, context = program_of(name), Context()
    found = space.legal(program, context)
    assert tuple(found) == labels(program)
    for label, axes in found.items():
        here = space.Label(program, label, context)
        assert list(axes) == list(AXES)
        for axis, verdicts in axes.items():
            assert tuple(v.value for v in verdicts) == AXES[axis].candidates
            for v in verdicts:
                asked = {axis: v.value} | dict(v.needs)
                error = here.attempt(Options(**asked))[1]
                assert v.legal == (error is None)
                assert (v.reason == "") == (v.refusal is None)
                assert v.refusal is None or isinstance(v.refusal, ScheduleError)


@pytest.mark.covering
@pytest.mark.parametrize("threads", [0, 1])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_space_holds_every_legal_pair_and_nothing_twice(name: str, threads: int) -> None:
    """Combinations are cut off as soon as the first of their options are refused: nothing legal may be lost."""
    program, context = program_of(name), Context(threads=threads)
    for label in labels(program):
        here = space.Label(program, label, context)
        found = [here.attempt(o) for o in space.variants(program, label, context)]
        assert all(error is None for _, error in found)
        reached = {schedules for schedules, _ in found}
        assert len(reached) == len(found)
        assert here.attempt(Options())[0] in reached
        for a, b in combinations(AXES, 2):
            for x, y in product(AXES[a].candidates, AXES[b].candidates):
                options = Options(**{a: x, b: y})
                schedules, error = here.attempt(options)
                assert error is not None or schedules in reached, options


def test_the_order_is_the_same_every_time_and_samples_have_a_seed() -> None:
    program, context = program_of("sssp"), Context()
    every = list(space.schedules(program, context))
    assert every == list(space.schedules(program, context))
    assert len({str(s) for s in every}) > 8
    some = space.sample(program, context, 6, seed=3)
    assert some == space.sample(program, context, 6, seed=3)
    assert len(some) == len(set(some)) == 6
    assert set(some) <= set(every)
    assert [s.labels["relax"] for s in every] == list(space.variants(program, "relax", context))


def test_axes_may_be_held() -> None:
    program, context = program_of("sssp"), Context()
    for schedule in space.schedules(program, context, axes=("direction", "drive")):
        assert set(schedule.labels["relax"].given()) <= {"direction", "drive"}


def test_labels_vary_one_by_one_or_together() -> None:
    name = max(PROGRAMS, key=lambda n: len(labels(program_of(n))))
    program, context = program_of(name), Context()
    counts = [len(list(space.variants(program, label, context))) for label in labels(program)]
    assert len(counts) > 1
    assert len(list(space.schedules(program, context))) == sum(counts)
    product = 1
    for c in counts:
        product *= c
    both = space.schedules(program, context, together=True)
    every = set(labels(program))
    assert sum(set(s.labels) == every for s in both) == product

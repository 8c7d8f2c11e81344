"""What is chosen for each kind of loop, what is refused, and why: every decision of the axes' resolvers, in two files.

A change of a rule shows there as the programs, graphs and devices for which it decides otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from choices_programs import CHOICES, EVERY, once

import vgraph as vg
from vgraph.compiler import ir, space
from vgraph.compiler.abilities import CPU, CUDA, Abilities
from vgraph.compiler.facts import Facts
from vgraph.compiler.ir.rewrite import Context
from vgraph.compiler.ir.text import parse_program
from vgraph.compiler.passes.choose_schedule import labels
from vgraph.schedule import (
    APPLY_SCATTER,
    AXES,
    COMPUTED,
    CSR,
    EDGE,
    GATHER_APPLY,
    RAW,
    SHAPING,
    SLICES,
    VERTEX,
    ApplySchedule,
    Balance,
    Options,
    Payload,
    Phases,
    Rows,
    kind_of,
    show,
)

GOLDEN = Path(__file__).parent / "golden"
FACTS = {
    "small": Facts(),
    "large": Facts(large=True),
    "hubs": Facts(large=True, hubs=True),
    "tiny with a hub": Facts(hubs=True),
    "directed": Facts(large=True, directed=True, segments=8),
    "deep": Facts(large=True, deep=True, short_lists=True),
    "crowded": Facts(large=True, deep=True, short_lists=True, crowd=16),
    "short lists": Facts(large=True, short_lists=True, segments=64),
}
MACHINES = {
    "cpu": Context(),
    "cpu, 1 thread": Context(threads=1),
    "cpu, deterministic": Context(deterministic=True),
    "cuda": Context(abilities=CUDA),
}
DRAWN = ("sssp", "bfs", "sums", "components", "frequent", "spread", "paths", *CHOICES)


@cache
def program_of(name: str) -> ir.Program:
    return space.ready(parse_program(EVERY[name]), Context())


def asked_of(name: str, context: Context) -> dict[str, space.Label]:
    program = program_of(name)
    return {label: space.Label(program, label, context) for label in labels(program)}


def shown(schedule: ApplySchedule) -> str:
    """What is not the same for nearly all."""
    return str(schedule).replace("phases=fused, ", "").replace(", deduplicate=false", "")


def test_choices(golden: Callable[[Path, str], None]) -> None:
    """The schedules of loops of which nothing is asked, each with the machines and the facts that lead to it."""
    lines = []
    for name in DRAWN:
        found: dict[tuple[str, str], dict[str, list[str]]] = {}
        for machine, context in MACHINES.items():
            for fact, facts in FACTS.items():
                for label, here in asked_of(name, replace(context, facts=facts)).items():
                    chosen, error = here.attempt(Options())
                    assert error is None
                    key = label, " / ".join(dict.fromkeys(shown(schedule) for schedule in chosen))
                    found.setdefault(key, {}).setdefault(machine, []).append(fact)
        for (label, schedule), where in found.items():
            lines.append(f"{name}, {label}: {schedule}")
            if any(where.get(machine) != list(FACTS) for machine in MACHINES):
                lines += [f"    {machine}: {', '.join(facts)}" for machine, facts in where.items()]
    golden(GOLDEN / "choices.txt", "\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("crowd", "short", "rows"), [(0, True, SLICES), (8, True, SLICES), (16, True, CSR), (16, False, SLICES)]
)
def test_short_rows_are_not_put_side_by_side_for_many_threads(crowd: int, short: bool, rows: Rows) -> None:
    """A plain sum, as of pagerank, where so much is run that slices would pay."""
    text = EVERY["sums"].replace("(x[src] * cast<i64>(weight[edge]))", "x[src]").replace("@all += 1:i64", "")
    facts = Facts(large=True, slices=True, short_lists=short, crowd=crowd)
    here = space.Label(space.ready(parse_program(text), Context()), "add", Context(facts=facts))
    ((schedule,), _) = here.attempt(Options())
    assert schedule.rows is rows


@pytest.mark.parametrize(
    ("name", "crowd", "heavy", "balance"),
    [("bfs", 8, True, EDGE), ("bfs", 0, True, VERTEX), ("bfs", 8, False, VERTEX), ("paths", 8, True, VERTEX)],
)
def test_many_threads_share_the_arcs_of_a_heavy_round(
    name: str, crowd: int, heavy: bool, balance: Balance
) -> None:
    """In searches that claim, where a push has few of all arcs."""
    here = next(iter(asked_of(name, Context(facts=Facts(large=True, crowd=crowd, heavy=heavy))).values()))
    ((schedule,), _) = here.attempt(Options())
    assert schedule.balance == balance


def test_refusals(golden: Callable[[Path, str], None]) -> None:
    """What is refused of each axis, the reasons, and which loops are refused it; after "with", what makes it legal."""
    found: dict[str, dict[str, dict[str, None]]] = {}
    for name in DRAWN:
        for label, here in asked_of(name, Context()).items():
            for axis in AXES.values():
                for value in axis.candidates:
                    verdict = here.verdict(axis.name, value)
                    if verdict.refusal is not None:
                        needs = ", ".join(f"{k}={show(v)}" for k, v in verdict.needs)
                        loop = f"{name}, {label}" + (f" (with {needs})" if needs else "")
                        option = f"{axis.name}={kind_of(value)}"
                        found.setdefault(option, {}).setdefault(verdict.reason, {})[loop] = None
    lines = []
    for option, reasons in found.items():
        lines.append(option)
        for reason, loops in reasons.items():
            lines += [f"  {reason}", *(f"    {loop}" for loop in loops)]
    golden(GOLDEN / "refusals.txt", "\n".join(lines) + "\n")


def test_shapes(golden: Callable[[Path, str], None]) -> None:
    """What the other axes are in each shape of a loop that can be asked for, on a CPU and a graph with a hub."""
    lines = []
    for name in ("hops", "claim", "sum, then touched", "each gathers"):
        program = program_of(name)
        context = Context(facts=FACTS["hubs"])
        for options in space.variants(program, "visit", context, SHAPING):
            (schedule,), _ = space.Label(program, "visit", context).attempt(options)
            asked = ", ".join(f"{k}={show(v)}" for k, v in options.given().items() if v is not None)
            lines += [f"{name}: {asked or 'nothing asked'}", f"    {schedule}"]
    golden(GOLDEN / "shapes.txt", "\n".join(lines) + "\n")


@pytest.mark.parametrize(("name", "waits"), [("bfs", True), ("paths", True), ("bfs_reverse", False)])
def test_it_is_told_where_a_pull_waits_for_the_transpose(name: str, waits: bool) -> None:
    for facts in (FACTS["directed"], FACTS["large"]):
        here = next(iter(asked_of(name, Context(facts=facts)).values()))
        (schedule, *_), _ = here.attempt(Options())
        reasons = " ".join(schedule.reasons)
        assert "direction=auto" in reasons
        assert ("before the transpose" in reasons) == (waits and facts.directed)
        # A queue for small frontiers, a bitmap for those that would be pulled.
        assert ("a push takes a queue, or a bitmap" in reasons) == (waits and facts.directed)


def test_a_verdict_names_the_line_that_forbids() -> None:
    (here,) = asked_of("falling", Context()).values()
    refused = here.verdict("sync", vg.ASYNC)
    assert refused.span is not None
    line = refused.span.source.lines[refused.span.line - 1]
    assert line.strip() == "dist[dst] min= (10:i32 - dist[src])"
    assert not refused.legal
    legal = here.verdict("sync", vg.BSP)
    assert (legal.span, legal.reason, legal.legal, legal.needs) == (None, "", True, ())
    needing = here.verdict("payload", RAW)
    assert (needing.legal, needing.reason) == (True, "a fused loop has no buffer")


def test_it_is_told_what_was_asked_for_and_what_it_costs() -> None:
    for threads in (0, 1):
        (here,) = asked_of("hops", Context(threads=threads)).values()
        (phases,), _ = here.attempt(Options(phases=GATHER_APPLY))
        assert "phases=gather_apply: asked for" in phases.reasons
        (strict,), _ = here.attempt(Options(order=vg.STRICT))
        assert any("one thread runs this loop" in reason for reason in strict.reasons) == (threads != 1)


TWO = "dist[dst] min= dist[src]\nlevel[dst] min= (dist[src] + 1:i32)"
BOTH = "dist[dst] min= (dist[src] + level[src])"
ALL = "dist[dst] min= ((dist[src] + level[src]) + first[src])"


@pytest.mark.parametrize(
    ("body", "phases", "payload", "why"),
    [
        (TWO, GATHER_APPLY, RAW, "raw, 4 bytes an arc; computed, 8 bytes an arc"),
        ("dist[dst] min= dist[src]", GATHER_APPLY, COMPUTED, "raw, 4 bytes an arc; computed, 4 bytes an arc"),
        (BOTH, GATHER_APPLY, COMPUTED, "raw, 8 bytes an arc; computed, 4 bytes an arc"),
        # One for each vertex, or one for each of its arcs, of which there are two or more.
        (BOTH, APPLY_SCATTER, RAW, "raw, 8 bytes a vertex; computed, 4 bytes an arc"),
        (ALL, APPLY_SCATTER, COMPUTED, "raw, 12 bytes a vertex; computed, 4 bytes an arc"),
    ],
)
def test_a_buffer_holds_what_is_fewer_bytes(body: str, phases: Phases, payload: Payload, why: str) -> None:
    program = space.ready(parse_program(once(body)), Context())
    (schedule,), _ = space.Label(program, "visit", Context()).attempt(Options(phases=phases))
    assert schedule.payload is payload
    assert schedule.reasons[-1] == f"payload={payload.value}: it moves fewer bytes: {why}"


def test_a_raw_arc_of_a_frontier_also_tells_whether_its_source_is_active() -> None:
    for frontier, size in (("", 4), (", frontier", 5)):
        program = space.ready(parse_program(once(TWO, frontier=frontier)), Context())
        (schedule,), _ = space.Label(program, "visit", Context()).attempt(Options(phases=GATHER_APPLY))
        assert f"raw, {size} bytes an arc" in schedule.reasons[-1]


@pytest.mark.parametrize("device", [CPU, CUDA], ids=lambda device: device.device)
def test_what_is_asked_for_and_legal_is_what_the_schedule_has(device: Abilities) -> None:
    taken: set[str] = set()
    for name in DRAWN:
        for here in asked_of(name, Context(abilities=device)).values():
            for axis in AXES.values():
                for value in (v for v in axis.candidates if here.attempt(Options())[1] is None):
                    verdict = here.verdict(axis.name, value)
                    if verdict.legal:
                        asked = {axis.name: value, **dict(verdict.needs)}
                        chosen, _ = here.attempt(Options(**asked))
                        assert all(getattr(schedule, k) == v for schedule in chosen for k, v in asked.items())
                        taken.add(axis.name)
    assert taken == set(AXES)

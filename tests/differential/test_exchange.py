"""Exchange: updates seen at the end of the round or at once end in the fixpoint of the reference interpreter."""

from __future__ import annotations

import pytest
from fuzz.programs import fixpoint, program_text
from fuzz.runs import Runs, Subject, Way, compare

from vgraph.compiler import ir
from vgraph.compiler.analysis.effects import async_obstacle
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.passes import PIPELINE
from vgraph.refusals.schedules import IllegalSchedule

QUICK, MANY = 12, 500
INTERLEAVINGS = 50
LABEL = "op0"


def subject_of(seed: int) -> Subject:
    """A program of one loop that runs until nothing changes."""
    return Subject(program_text(seed, fixpoint), seed)


def at(sync: str, seed: int) -> dict[str, dict[str, str]]:
    """A schedule with this exchange, one of the directions and one of the layouts."""
    direction, layout = ("push", "pull")[seed % 2], ("sparse", "bitmap")[seed // 2 % 2]
    return {LABEL: {"sync": sync, "direction": direction, "frontier": layout}}


def obstacle(subject: Subject) -> object:
    (apply,) = (n for n in walk(subject.ready) if isinstance(n, ir.EdgeApply))
    return async_obstacle(subject.ready, apply)


def both_ways(seed: int, threads: int) -> bool:
    """Compare both exchanges with the reference on two graphs; whether updates may be seen at once."""
    subject, asynchronous = subject_of(seed), True
    for sync in ("bsp", "async"):
        try:
            runs = Runs(subject, Way("cpu", threads, at(sync, seed)))
        except IllegalSchedule as refused:
            assert sync == "async"
            line = refused.span.source.line(refused.span.line)
            assert any(word in line for word in ("dst.", "if ")), line
            asynchronous = False
            continue
        for shape in ((9, 20), (150, 400)):
            compare(runs, shape, subject.expected(subject.graph(shape)))
    return asynchronous


def interleavings(seed: int, count: int) -> None:
    """All orders of the kernel's steps end in the same fixpoint, where none is said to be impossible."""
    subject = subject_of(seed)
    way = Way("interpret", 2, at("async", seed), PIPELINE[-1].name)  # code for several threads
    if obstacle(subject) is not None:
        with pytest.raises(IllegalSchedule):
            Runs(subject, way)
        return
    kernel = Runs(subject, way).program
    graph = subject.graph((6, 12))
    expected, arguments = subject.expected(graph), subject.arguments(graph)
    for number in range(count):
        found = interpret(kernel, graph, arguments, seed=number, threads=2 + number % 3)
        for name, value in expected.items():
            assert found[name].tolist() == value.tolist(), f"interleaving {number}: {name}\n{subject.text}"


def test_both_exchanges_give_the_fixpoint() -> None:
    found = [both_ways(seed, 1 + seed % 3) for seed in range(QUICK)]
    assert QUICK / 4 < sum(found) < QUICK, "some programs must be proven, and some refused"


@pytest.mark.parametrize("seed", range(QUICK, QUICK + 12))
def test_interleavings(seed: int) -> None:
    interleavings(seed, INTERLEAVINGS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 100 + MANY))
def test_many(seed: int) -> None:
    for threads in (1, 2, 3):
        both_ways(seed, threads)
    interleavings(seed, INTERLEAVINGS)

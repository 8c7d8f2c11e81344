"""`deterministic=True`: the same bits in every order of visits, on every schedule accepted, at any number of threads.

Kernel IR is interpreted with its visits shuffled and threads interleaved, which finds what real threads show once in a
while; then machine code runs on real ones.
"""

from __future__ import annotations

import importlib
import importlib.util
import zlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import deterministic_programs as programs
import numpy as np
import pytest
from hypothesis import given, settings
from library_arguments import arguments_for as library_arguments
from library_arguments import graph_for, library

import vgraph as vg
from vgraph.compiler.axes import one_order
from vgraph.compiler.ir.text import print_program
from vgraph.compiler.ir.text_parser import parse

THREADS = (1, 2, 3, 5, 8)
QUICK, MANY = 10, 300
SUMS = ("betweenness", "conjugate_gradient", "modularity", "pagerank")
"""Algorithms with sums of floats of every kind: along arcs, behind guards, globals, and at other vertices."""
FEW: dict[str, dict[str, Any]] = {
    "betweenness": {"sources": np.arange(3)},
    "edge_betweenness": {"sources": np.arange(3)},
    "weighted_betweenness": {"sources": np.arange(3)},
    "weighted_closeness": {"vertices": np.arange(3)},
    "pagerank": {"max_rounds": 5},
    "eigenvector": {"max_rounds": 300, "tolerance": 1e-3},
}


@pytest.mark.parametrize("algorithm", programs.PROGRAMS, ids=lambda a: a.name)
def test_same_bits_in_every_order(algorithm: vg.AlgorithmDef) -> None:
    assert programs.differing(algorithm, programs.graph_of(30, 3), schedules=6, seeds=2, seed=1) == []


def load(folder: Path, text: str) -> vg.AlgorithmDef:
    """The algorithm of a random program, imported from a file as a user's would be."""
    path = folder / f"rounding_{zlib.crc32(text.encode())}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


def check_program(folder: Path, text: str) -> None:
    graph = programs.graph_of(12, zlib.crc32(text.encode()))
    assert programs.differing(load(folder, text), graph, schedules=3, seeds=1, seed=1) == [], text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@settings(max_examples=QUICK)
@given(text=programs.program_texts())
def test_random_programs(folder: Path, text: str) -> None:
    check_program(folder, text)


@pytest.mark.slow
@settings(max_examples=MANY)
@given(text=programs.program_texts())
def test_many_random_programs(folder: Path, text: str) -> None:
    check_program(folder, text)


# --- machine code -----------------------------------------------------------------------------------------------


def native(
    algorithm: vg.AlgorithmDef, graph: vg.Graph, arguments: dict[str, Any], schedules: list[vg.Schedule]
) -> None:
    """Run on real threads; the first run says what the others have to give."""
    expected = None
    for schedule in schedules:
        for threads in THREADS:
            result = vg.run(
                algorithm, graph, schedule=schedule, threads=threads, deterministic=True, **arguments
            )
            found = programs.bits_of({name: getattr(result, name) for name in result.names})
            expected = found if expected is None else expected
            assert found == expected, f"{algorithm.name}: {schedule}, {threads} threads"


@pytest.mark.parametrize("algorithm", library(SUMS))
def test_library_has_the_same_bits(algorithm: vg.AlgorithmDef) -> None:
    graph = graph_for(algorithm, programs.graph_of(1500, 5))  # several blocks of a global sum
    given = library_arguments(algorithm, graph, 1) | FEW.get(algorithm.name, {})
    prepared, _, replaced = algorithm.prepare(graph, given)
    defaults = {n: p.default for n, p in algorithm.signature.parameters.items() if p.default is not p.empty}
    slow = algorithm.name not in SUMS
    some = programs.ways(algorithm, prepared, defaults | given | replaced, 6 if slow else 1, seed=7)
    native(algorithm, graph, given, [schedule for schedule, _ in some])


@pytest.mark.parametrize("algorithm", [programs.scattered, programs.passed_on])
def test_programs_have_the_same_bits(algorithm: vg.AlgorithmDef) -> None:
    graph = programs.graph_of(3000, 5)
    given = programs.arguments_for(algorithm, graph, 1)
    some = [schedule for schedule, _ in programs.ways(algorithm, graph, given, 2, seed=3)]
    native(algorithm, graph, given, some)


def test_sums_of_properties_are_the_reference_interpreter_s() -> None:
    """Along a row, and over vertices in their order: as CPython comes to them."""
    graph = programs.graph_of(200, 5)
    for algorithm, names in ((programs.passed_on, "got product kept"), (programs.scattered, "got")):
        given = programs.arguments_for(algorithm, graph, 1)
        want = vg.run(algorithm, graph, device="python", deterministic=True, **given)
        found = vg.run(algorithm, graph, threads=2, deterministic=True, **given)
        for name in names.split():
            assert getattr(want, name).tobytes() == getattr(found, name).tobytes(), name


def test_no_sum_may_be_reordered_by_llvm() -> None:
    graph = programs.graph_of(50, 5)
    for deterministic in (False, True):
        explained = vg.explain(programs.of_vectors, graph, llvm=True, deterministic=deterministic)
        assert ("reassoc" in explained.llvm) is not deterministic
        assert ("program of_vectors: kernel, ids 32, offsets 32, ordered" in str(explained)) is deterministic


# --- planted faults ---------------------------------------------------------------------------------------------


def without(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    """Leave one part of what makes the order of things the same out."""
    lower, fix = (importlib.import_module(f"vgraph.compiler.passes.{n}") for n in ("lowering", "fix_order"))
    match fault:
        case "settled schedules":
            monkeypatch.setattr(one_order, "settle", lambda choice: None)
        case "one thread for scattered sums":
            monkeypatch.setattr(lower, "in_turn", lambda *args: False)
        case "global sums by vertex":
            monkeypatch.setattr(fix._Sums, "rule", lambda self, n: None)
        case "one zero":
            monkeypatch.setattr(fix, "_one_zero", lambda n: None)
        case "raw payload":
            monkeypatch.setattr(one_order, "Payload", SimpleNamespace(RAW=vg.COMPUTED))
        case "claims":
            monkeypatch.setattr(one_order, "_same_for_all", lambda *args: True)
        case "whole visits":
            monkeypatch.setattr(one_order, "_WHOLE_VISITS", one_order._ROW)
        case "direction" | "balance":
            rest = {k: v for k, v in one_order._ROW.items() if k != fault}
            monkeypatch.setattr(one_order, "_ROW", rest)
            rest = {k: v for k, v in one_order._WHOLE_VISITS.items() if k != fault}
            monkeypatch.setattr(one_order, "_WHOLE_VISITS", rest)


FAULTS = {
    "settled schedules": programs.passed_on,
    "one thread for scattered sums": programs.scattered,
    "global sums by vertex": programs.passed_on,
    "one zero": programs.zeros,
    "claims": programs.levels,
    "raw payload": programs.passed_on,
    "whole visits": programs.passed_on,
    "direction": programs.passed_on,
    "balance": programs.passed_on,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    without(monkeypatch, fault)
    graph = programs.graph_of(30, 3)
    try:
        found = programs.differing(FAULTS[fault], graph, schedules=6, seeds=1, seed=1)
    except AssertionError:
        found = ["a pass that holds its contract"]
    assert found


# --- refusals ---------------------------------------------------------------------------------------------------


def test_what_is_refused_names_the_line() -> None:
    graph = programs.graph_of(20, 3)
    given = programs.arguments_for(programs.passed_on, graph, 1)
    schedule = vg.Schedule().at("pass_on", direction=vg.PUSH)
    with pytest.raises(vg.ScheduleError) as refused:
        vg.run(programs.passed_on, graph, schedule=schedule, deterministic=True, **given)
    text = str(refused.value)
    assert "deterministic=True: the sum `got` of floats" in text
    assert "dst.got += src.number / 3.0" in text
    vg.run(programs.passed_on, graph, schedule=schedule, **given)  # without it, any order will do


def test_explain_says_why() -> None:
    explained = vg.explain(programs.passed_on, programs.graph_of(20, 3), deterministic=True)
    assert (
        "deterministic=True: the sum `got` of floats depends on the order of its parts" in explained.reasons
    )
    assert "deterministic=True" not in str(vg.explain(programs.passed_on, programs.graph_of(20, 3)))


def test_not_on_a_gpu() -> None:
    graph = programs.graph_of(20, 3)
    with pytest.raises(vg.DeviceError, match="no fixed order"):
        vg.run(programs.zeros, graph, device="cuda", deterministic=True, zero=np.zeros(20))
    with pytest.raises(vg.DeviceError, match="no fixed order"):
        vg.explain(programs.zeros, graph, device="cuda", deterministic=True)
    with pytest.raises(vg.ParameterError, match="deterministic='yes': True or False"):
        vg.run(programs.zeros, graph, deterministic="yes", zero=np.zeros(20))


def test_code_is_kept_apart() -> None:
    """A plan made with it is not taken without it, nor the other way round."""
    graph = programs.graph_of(2000, 5)
    given = programs.arguments_for(programs.passed_on, graph, 1)
    for deterministic in (False, True, False):
        result = vg.run(programs.passed_on, graph, threads=2, deterministic=deterministic, **given)
        assert result.names == ("got", "product", "kept", "total")
    fixed = vg.run(programs.passed_on, graph, deterministic=True, **given).schedule
    assert fixed.labels["pass_on"].segments == 1


def test_the_resolved_schedule_is_accepted() -> None:
    graph = programs.graph_of(50, 5)
    given = programs.arguments_for(programs.levels, graph, 1)
    first = vg.run(programs.levels, graph, deterministic=True, **given)
    again = vg.run(programs.levels, graph, schedule=first.schedule, deterministic=True, **given)
    assert again.schedule == first.schedule
    assert again.mean.tobytes() == first.mean.tobytes()


def test_ordered_programs_round_trip() -> None:
    graph = programs.graph_of(20, 3)
    given = programs.arguments_for(programs.passed_on, graph, 1)
    _, kernel = next(programs.ways(programs.passed_on, graph, given, 0, 1))
    assert kernel.ordered
    assert parse(print_program(kernel), "printed") == kernel
    assert parse(print_program(replace(kernel, ordered=False)), "printed") != kernel

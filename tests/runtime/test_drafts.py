"""Runs on small graphs begin with code that is not optimised, and end with better code if they last."""

import numpy as np
import pytest

import vgraph as vg
from vgraph.algorithms import bfs
from vgraph.compiler.backends.base import Kernel
from vgraph.config import scope
from vgraph.runtime.devices import compiled, drafts
from vgraph.runtime.devices import threads as native_threads
from vgraph.runtime.devices.cpu import CPU
from vgraph.runtime.devices.drafts import Draft
from vgraph.runtime.prepare import prepare, runner_for

SECOND = 10**9  # ns
GRAPH = vg.Graph.from_edges([0, 1, 2], [1, 2, 3])


@pytest.fixture(autouse=True)
def nothing_is_asked(monkeypatch, tmp_path):
    monkeypatch.delenv("VGRAPH_OPT", raising=False)
    monkeypatch.setenv("VGRAPH_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiled, "_loaded", type(compiled._loaded)())
    monkeypatch.setattr(
        native_threads, "_WAKE_NS", 60 * SECOND
    )  # no short run lasts, however busy the machine is


@pytest.fixture
def compilations(monkeypatch):
    """The level of each compilation, as the key of its code says."""
    levels = []
    make = compiled.CompiledRunner._compile

    def noted(runner, job, key):
        levels.append(runner.stamp().rpartition("|")[2])
        return make(runner, job, key)

    monkeypatch.setattr(compiled.CompiledRunner, "_compile", noted)
    return levels


@vg.operator
def add(v, graph):
    v.value += graph.turn % 3


@vg.algorithm
def turns(graph, count: vg.int64):
    value = graph.vertex_property(vg.int64)
    graph.turn = 0
    while graph.turn < count:
        graph.vertex_apply(add)
        graph.turn += 1
    return value


def forget():
    compiled._loaded.clear()


def test_code_is_optimised_when_runs_have_taken_as_long_as_that(compilations, monkeypatch):
    levels = []
    for patience in (10.0, 10.0, 0.0, 0.0):
        monkeypatch.setattr(drafts, "PATIENCE", patience)
        stats = vg.run(bfs, GRAPH, source=0).stats
        levels.append(len(compilations))
    assert compilations == ["O0", "O3"]
    assert levels == [1, 1, 2, 2]
    assert stats.cached is False
    forget()
    assert vg.run(bfs, GRAPH, source=0).stats.cached, "optimised code on disk is better than a draft"
    assert compilations == ["O0", "O3"]


def test_another_process_finds_the_draft(compilations):
    assert not vg.run(bfs, GRAPH, source=0).stats.cached
    forget()
    assert vg.run(bfs, GRAPH, source=0).stats.cached
    assert compilations == ["O0"]


@pytest.mark.parametrize(("threads", "count"), [(1, 3_000_000), (2, 30_000)])
def test_a_run_that_lasts_begins_anew_with_better_code(compilations, threads, count, monkeypatch):
    monkeypatch.setattr(native_threads, "_WAKE_NS", SECOND // 50)
    runs = []
    native = CPU._native
    monkeypatch.setattr(CPU, "_native", lambda *given: runs.append(type(given[1])) or native(*given))
    result = vg.run(turns, GRAPH, count=count, threads=threads)
    if threads == 1:
        assert runs == [Draft, Kernel]
    expected = sum(turn % 3 for turn in range(count))
    np.testing.assert_array_equal(result.value, [expected] * 4)
    assert compilations == ["O0", "O3"]
    assert result.stats.rounds == count
    vg.run(turns, GRAPH, count=1, threads=threads)
    assert compilations == ["O0", "O3"], "the next one has it from the beginning"


def test_it_may_end_while_better_code_is_made(compilations, monkeypatch):
    job = prepare(bfs, GRAPH, {"source": 0})
    context = type("Context", (), {"busy": False})
    draft = Draft(0, None, None, spent=[], better=lambda: runner_for(job).build(job))
    assert draft.overtake(context) is False
    assert compilations == ["O3"]


def test_who_wants_it_fast_from_the_beginning(compilations, monkeypatch):
    vg.prepare(bfs, GRAPH, source=0)
    vg.run(bfs, GRAPH, source=0)
    assert compilations == ["O3"]
    for level in (0, 2, 3):
        forget()
        with scope(opt=level, no_cache=True):
            vg.run(bfs, GRAPH, source=0)
    assert compilations == ["O3", "O0", "O2", "O3"]
    monkeypatch.setattr(drafts, "SMALL", 3)
    forget()
    with scope(no_cache=True):
        vg.run(bfs, GRAPH, source=0)
    assert compilations[4:] == ["O3"]


def test_a_draft_keeps_no_graph():
    graph = vg.Graph.from_edges([0, 1], [1, 2])
    vg.run(bfs, graph, source=0)
    (kept,) = (x.kernel for x in compiled._loaded.values())
    assert isinstance(kept, Draft)
    assert kept.better is None


def test_what_passes_make_that_have_no_key_is_compiled_for_each_run(compilations, monkeypatch):
    monkeypatch.setattr(compiled, "pass_marks", lambda own: None)
    for _ in range(2):
        assert vg.run(bfs, GRAPH, source=0).level.tolist() == [0, 1, 2, 3]
    assert compilations == ["O3", "O3"]

"""`vg.run` as its callers see it: parameters, results, threads, interrupts, the cache."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import vgraph as vg
from vgraph.cache import CacheWarning
from vgraph.config import scope
from vgraph.runtime.prepare import _OWN, _SHARED

ROOT = Path(__file__).parents[2]


@pytest.fixture
def graph():
    rng = np.random.default_rng(7)
    n, m = 300, 1500
    return vg.Graph.from_edges(
        rng.integers(0, n, m),
        rng.integers(0, n, m),
        num_vertices=n,
        weight=rng.integers(1, 20, m).astype(np.int32),
    )


@pytest.fixture
def private_cache(tmp_path):
    from vgraph.runtime.devices import compiled

    folder = tmp_path / "cache"
    with scope(cache_dir=folder, no_cache=False):
        compiled._loaded.clear()
        yield folder
        compiled._loaded.clear()


def test_a_result_has_names_stats_trace_and_schedule(graph):
    result = vg.run(vg.algorithms.bfs, graph, source=0, threads=2)
    assert result.names == ("level", "parent")
    assert result.level.dtype == np.int32
    assert result.stats.threads == 2
    assert result.stats.device == "cpu"
    assert result.stats.rounds == len(result.trace) == result.level.max() + 1
    reached = result.level >= 0
    assert result.stats.edges == graph.out_degree[reached].sum()
    assert result.trace[0].frontier == 1
    assert {r.direction for r in result.trace} == {"push"}
    options = result.schedule.labels["visit"]
    assert (options.direction, options.drive) == (vg.PUSH, vg.DATA)
    with pytest.raises(AttributeError, match="level, parent"):
        result.depth


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "source"),
        ({"source": 0, "goal": 3}, "goal"),
        ({"source": "a"}, "source"),
        ({"source": 1.5}, "source"),
        ({"source": -1}, "not a vertex"),
        ({"source": 300}, "0 to 299"),
    ],
    ids=str,
)
@pytest.mark.parametrize("device", ["cpu", "python"])
def test_wrong_parameters_are_refused(graph, params, message, device):
    with pytest.raises(vg.ParameterError, match=message):
        vg.run(vg.algorithms.bfs, graph, device=device, **params)


def test_wrong_calls_are_refused(graph):
    with pytest.raises(vg.ParameterError, match=r"vg\.algorithm"):
        vg.run(lambda g: g, graph)
    with pytest.raises(vg.ParameterError, match="Graph"):
        vg.run(vg.algorithms.bfs, {0: [1]}, source=0)
    with pytest.raises(vg.ParameterError, match="threads"):
        vg.run(vg.algorithms.bfs, graph, source=0, threads=0)
    with pytest.raises(vg.DeviceError, match="cpu"):
        vg.run(vg.algorithms.bfs, graph, source=0, device="abacus")


@pytest.mark.parametrize("value", [1, 2.5, b"cpu", [], np.array([1, 2])], ids=str)
@pytest.mark.parametrize("name", ["device", "progress", "relabel", "output", "memory"])
def test_options_of_wrong_types_are_refused(graph, name, value):
    with pytest.raises(vg.VGraphError, match=f"^{name}="):
        vg.run(vg.algorithms.bfs, graph, source=0, **{name: value})


def test_what_prepares_a_call_takes_what_run_does():
    assert {*_OWN, *_SHARED, "params"} == {*inspect.signature(vg.run).parameters}


@pytest.mark.parametrize("option", ["relabel", "debug"])
def test_auto_takes_options_that_are_arrays(graph, option):
    given = {option: np.arange(graph.num_vertices)}
    found = vg.run(vg.algorithms.bfs, graph, source=0, device="auto", **given)
    np.testing.assert_array_equal(found.level, vg.run(vg.algorithms.bfs, graph, source=0).level)
    with pytest.raises(vg.ParameterError, match="which member of a set"):
        vg.run(vg.algorithms.bfs, graph, source=0, device="auto", placement=np.zeros(graph.num_vertices, int))


def test_options_of_the_others_are_refused(graph):
    with pytest.raises(vg.DeviceError, match=r"^device="):
        vg.explain(vg.algorithms.bfs, graph, device=np.array([1, 2]))
    with pytest.raises(vg.ParameterError, match=r"^passes="):
        vg.explain(vg.algorithms.bfs, graph, passes=np.array([1, 2]))
    with pytest.raises(vg.ParameterError, match=r"^progress="):
        vg.autotune(vg.algorithms.bfs, graph, "1s", progress="bar", source=0)


@pytest.mark.parametrize("call", [vg.run, vg.explain])
@pytest.mark.parametrize(
    ("name", "value"),
    [("damping", "x"), ("max_rounds", [1]), ("tolerance", None), ("weight", []), ("weight", vg.int32)],
    ids=str,
)
def test_parameters_of_the_library_of_wrong_types_are_refused(graph, call, name, value):
    with pytest.raises(vg.ParameterError, match=f"^{name}="):
        call(vg.algorithms.pagerank, graph, **{name: value})


def test_a_number_of_samples_is_no_bool(graph):
    with pytest.raises(vg.ParameterError, match="samples=True"):
        vg.run(vg.algorithms.betweenness, graph, samples=True)


def test_a_graph_without_vertices_has_no_targets():
    with pytest.raises(vg.ParameterError, match=r"targets: .* the graph has none"):
        vg.run(vg.algorithms.betweenness, vg.Graph.from_edges([], []), targets=[0])


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_arrays_have_an_element_for_each_vertex(graph, device):
    with pytest.raises(vg.ParameterError, match=r"personalization has 2 elements.* 300"):
        vg.run(vg.algorithms.pagerank, graph, personalization=[1, 2], device=device)


def test_an_explanation_asks_for_what_a_run_does():
    bare = vg.Graph.from_edges([0], [1])
    with pytest.raises(vg.ParameterError, match="bfs counts hops"):
        vg.explain(vg.algorithms.sssp, bare)
    assert vg.explain(vg.algorithms.random_walks, bare).effects  # its checks need a number that is not there


def test_stand_ins_are_not_checked(graph):
    @vg.algorithm
    def scaled(graph, factor: vg.float64):
        x = graph.vertex_property(vg.float64, fill=factor)
        y = factor
        return x, y

    @scaled.requires
    def positive(graph, factor):
        if not factor > 0:
            raise vg.ParameterError("factor is positive")

    assert vg.explain(scaled, graph).schedule is not None
    assert vg.tuned(scaled, graph) is None
    with pytest.raises(vg.ParameterError, match="factor is positive"):
        vg.explain(scaled, graph, factor=0.0)


def test_weights_that_have_no_distances(graph):
    negative = graph.with_edge_property("weight", np.full(graph.num_arcs, -1, np.int32))
    with pytest.raises(vg.ParameterError, match="bellman_ford"):
        vg.run(vg.algorithms.sssp, negative, source=0)
    with pytest.raises(vg.AlgorithmError, match="negative"):
        vg.run(vg.algorithms.bellman_ford, vg.Graph.from_edges([0, 1], [1, 0], weight=[1, -2]), source=0)
    nan = graph.with_edge_property("weight", np.full(graph.num_arcs, np.nan))
    with pytest.raises(vg.ParameterError, match="NaN"):
        vg.run(vg.algorithms.sssp, nan, source=0)


def test_distances_widen_where_32_bits_might_overflow():
    far = vg.Graph.from_edges([0, 1], [1, 2], weight=np.array([2**30, 2**30], np.int32))
    assert vg.run(vg.algorithms.sssp, far, source=0).dist.tolist() == [0, 2**30, 2**31]


def test_more_threads_than_processors(graph):
    want = vg.run(vg.algorithms.sssp, graph, source=0, threads=1).dist
    got = vg.run(vg.algorithms.sssp, graph, source=0, threads=min(1024, 4 * (os.cpu_count() or 1))).dist
    np.testing.assert_array_equal(got, want)


def test_several_python_threads_at_once(graph):
    want = vg.run(vg.algorithms.sssp, graph, source=0).dist
    equal = []

    def work():
        runs = (vg.run(vg.algorithms.sssp, graph, source=0, threads=2) for _ in range(20))
        equal.extend(np.array_equal(r.dist, want) for r in runs)

    workers = [threading.Thread(target=work) for _ in range(3)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert len(equal) == 60
    assert all(equal)


def python(code, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


def test_a_forked_child_runs_too():
    code = """
        import os, sys, vgraph as vg
        g = vg.Graph.from_edges([0, 1, 2], [1, 2, 3])
        vg.run(vg.algorithms.bfs, g, source=0, threads=2)
        child = os.fork()
        if child == 0:
            os._exit(0 if vg.run(vg.algorithms.bfs, g, source=0, threads=2).level.tolist() == [0, 1, 2, 3] else 1)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    process = python(code)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_stops_a_long_run_and_leaves_the_graph_alone(threads):
    code = f"""
        import signal, sys, time, numpy as np, vgraph as vg
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell starts with &
        rng = np.random.default_rng(0)
        g = vg.Graph.from_edges(rng.integers(0, 5000, 50000), rng.integers(0, 5000, 50000), num_vertices=5000)
        before = g.out.column_indices.copy()
        go = dict(tolerance=0.0, threads={threads})
        vg.run(vg.algorithms.pagerank, g, max_rounds=1, **go)
        print("ready", flush=True)
        try:
            vg.run(vg.algorithms.pagerank, g, max_rounds=10**9, **go)
        except KeyboardInterrupt:
            print(time.monotonic(), flush=True)
        assert (before == g.out.column_indices).all()
        assert vg.run(vg.algorithms.pagerank, g, max_rounds=3, **go).rank.sum() > 0.99
        print("fine")
    """
    process = python(code)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=100)
    finally:
        process.kill()
    stopped, fine = output.split()
    assert fine == "fine", errors
    assert float(stopped) - sent < 30  # below 0.1; on a busy machine more


def test_progress_is_told_while_native_code_runs():
    rng = np.random.default_rng(0)
    graph = vg.Graph.from_edges(rng.integers(0, 5000, 50000), rng.integers(0, 5000, 50000), num_vertices=5000)
    seen = []

    def enough(progress):
        seen.append(progress)
        if len(seen) > 2 and progress.rounds > seen[0].rounds:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        vg.run(vg.algorithms.pagerank, graph, tolerance=0.0, max_rounds=10**9, progress=enough)
    assert [p.rounds for p in seen] == sorted(p.rounds for p in seen)
    assert seen[-1].rounds > seen[0].rounds


def test_code_comes_from_the_cache_until_something_changes(graph, private_cache):
    from vgraph.runtime.devices import compiled

    def anew(**options):
        compiled._loaded.clear()
        return not vg.run(vg.algorithms.sssp, graph, source=0, **options).stats.cached

    assert anew(threads=2)
    assert not anew(threads=2)
    assert anew(threads=1)
    assert anew(threads=2, schedule=vg.Schedule().at("relax", sync=vg.BSP))
    other = graph.with_edge_property("weight", graph.edge_properties["weight"].astype(np.float64))
    assert not vg.run(vg.algorithms.sssp, other, source=0, threads=2).stats.cached


def test_a_corrupt_cache_is_rebuilt(graph, private_cache):
    from vgraph.runtime.devices import compiled

    want = vg.run(vg.algorithms.sssp, graph, source=0).dist
    for entry in private_cache.glob("*.vgo"):
        entry.write_bytes(entry.read_bytes()[:-20])
    compiled._loaded.clear()
    with pytest.warns(CacheWarning):
        again = vg.run(vg.algorithms.sssp, graph, source=0)
    assert not again.stats.cached
    np.testing.assert_array_equal(again.dist, want)


def test_a_failure_is_told_each_time(graph):
    @vg.operator
    def overwrite(src, edge, dst):
        dst.x = src.x

    @vg.algorithm
    def wrong(graph):
        x = graph.vertex_property(vg.int32)
        graph.edge_apply(overwrite)
        return x

    for _ in range(2):
        with pytest.raises(vg.Diagnostic, match=r"dst\.x = src\.x"):
            vg.run(wrong, graph)


def test_explain_names_effects_schedule_and_code(graph):
    told = vg.explain(vg.algorithms.sssp, graph, llvm=True, assembly=True)
    assert "dst.dist (monotone, min)" in told.effects
    assert "direction=push" in told.schedule
    assert next(iter(told.passes)) == "frontend"
    assert list(told.passes)[-1] == "insert-barriers"
    assert "define i32 @vg_main" in told.llvm
    assert told.assembly.strip()
    assert "== reasons ==" in str(told)


def test_options_without_a_meaning_are_refused(graph):
    with pytest.raises(vg.ScheduleError, match="frontier"):
        vg.run(vg.algorithms.pagerank, graph, schedule=vg.Schedule().at("gather", frontier=vg.SPARSE))
    with pytest.raises(vg.ScheduleError, match="twice"):
        vg.run(vg.algorithms.pagerank, graph, schedule=vg.Schedule().at("update", deduplicate=True))
    with pytest.raises(vg.ScheduleError, match="vertex operator"):
        vg.run(vg.algorithms.pagerank, graph, schedule=vg.Schedule().at("update", direction=vg.PUSH))


def test_distances_need_weights():
    with pytest.raises(vg.ParameterError, match="bfs"):
        vg.run(vg.algorithms.sssp, vg.Graph.from_edges([0], [1]), source=0)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("device", ["cpu", "python"])
def test_a_program_knows_the_size_of_its_graph(directed, device):
    @vg.algorithm
    def sizes(graph):
        vertices = graph.num_vertices
        edges = graph.num_edges
        return vertices, edges

    graph = vg.Graph.from_edges([0, 1], [1, 2], directed=directed)
    result = vg.run(sizes, graph, device=device)
    assert (result.vertices, result.edges) == (3, 2)


@vg.operator
def shift(src, edge, dst):
    dst.index += src.place + src.own


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_properties_may_have_any_name(device):
    @vg.algorithm
    def named(graph):
        index = graph.vertex_property(vg.int64, fill=1)
        place = graph.vertex_property(vg.int64, fill=2)
        own = graph.vertex_property(vg.int64, fill=3)
        graph.edge_apply(shift)
        return index, place, own

    result = vg.run(named, vg.Graph.from_edges([0, 1], [1, 2]), device=device)
    assert result.index.tolist() == [1, 6, 6]


def test_the_knobs_show_what_was_compiled(graph, private_cache, tmp_path, capfd):
    with scope(debug=4, dump_dir=tmp_path / "dump"):
        vg.run(vg.algorithms.bfs, graph, source=0)
    told = capfd.readouterr().err
    assert "bfs: schedule ==" in told
    assert "bfs: after lower-storage ==" in told
    assert "define i32 @vg_main" in told
    names = sorted(p.name for p in (tmp_path / "dump").iterdir())
    assert names[0] == "bfs-0-frontend.ir"
    assert names[-1] == "bfs.ll"


@pytest.mark.parametrize(
    "call",
    [
        lambda g: vg.run(vg.algorithms.pagerank, g, weight="w" * 10**5),
        lambda g: vg.run(vg.algorithms.bfs, g, source=0, schedule=vg.Schedule().at("x" * 10**5)),
        lambda g: vg.read("x" * 5000),
        lambda g: vg.read(vg.data.path("karate"), edge_properties=3),
        lambda g: vg.read(vg.data.path("karate"), edge_properties="weight" * 1000),
        lambda g: vg.autotune(vg.algorithms.bfs, g, budget=0.01, source=0, seed="x" * 10**5),
    ],
)
def test_wrong_arguments_are_told_in_short(graph, call):
    with pytest.raises(vg.VGraphError) as caught:
        call(graph)
    assert len(str(caught.value)) < 500


def test_a_call_of_an_algorithm_runs_it() -> None:
    graph = vg.Graph.from_edges([0, 1], [1, 2])
    found = vg.algorithms.bfs(graph, source=1, device="python")
    assert found.level.tolist() == vg.run(vg.algorithms.bfs, graph, source=1).level.tolist()
    with pytest.raises(vg.VGraphError, match="source"):
        vg.algorithms.bfs(graph)

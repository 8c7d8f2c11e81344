"""The runtime of the CUDA backend, with kernels written by hand; on an emulated GPU, with `-m cuda` on a real one."""

from __future__ import annotations

import gc
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from emulated_device import EmulatedDevice
from written import counted, endless_body, failing_body, listing_body, weighted, weighted_body, written

import vgraph as vg
from vgraph.compiler.backends.base import ArgSlot
from vgraph.compiler.facts import Facts
from vgraph.config import scope
from vgraph.errors import InternalError
from vgraph.runtime import policy
from vgraph.runtime.devices import compiled
from vgraph.runtime.devices.cuda import executor as cuda_executor
from vgraph.runtime.devices.cuda import use
from vgraph.runtime.devices.cuda.executor import CUDA, resident_on


@pytest.fixture
def graph():
    rng = np.random.default_rng(5)
    return vg.Graph.from_edges(rng.integers(0, 300, 900), rng.integers(0, 300, 900), num_vertices=300)


@pytest.fixture(autouse=True)
def cache(tmp_path):
    with scope(cache_dir=tmp_path / "cache", no_cache=False):
        compiled._loaded.clear()
        yield
        compiled._loaded.clear()


X = np.arange(300) * 3 - 100


def with_list(interface):
    """The interface with a list of frontiers more."""
    return replace(interface, lists=("levels",))


def check(result, graph, x=X, add=7):
    want = vg.run(weighted, graph, device="cpu", x=x, add=add)
    np.testing.assert_array_equal(result.y, want.y)
    assert result.total == want.total
    assert result.total.dtype == want.total.dtype


def test_results_as_on_the_cpu(gpu, graph):
    with written(weighted_body):
        result = vg.run(weighted, graph, device="cuda", x=X, add=7)
    check(result, graph)
    assert isinstance(result.y, np.ndarray)
    stats = result.stats
    assert (stats.device, stats.rounds, stats.cached) == ("cuda", 1, False)
    assert stats.threads % gpu.block == 0
    assert 0 < stats.kernel_seconds <= stats.run_seconds
    assert stats.transfer_seconds > 0
    (record,) = result.trace
    assert (record.label, record.direction, record.frontier) == ("weigh", "vertex", 300)
    assert record.seconds == pytest.approx(1e-6)


def test_whether_it_has_converged(gpu, graph):
    """A bool is one byte of the word that comes back."""
    for rounds, converged in ((3, False), (300, True)):
        result = vg.run(vg.algorithms.pagerank, graph, max_rounds=rounds, device="cuda")
        assert result.converged is converged
        vg.verify(result)


def test_a_transpose_is_not_built_for_a_pull_that_might_be_a_push(gpu, monkeypatch):
    """And a kernel that never pulls takes no notice of what stands in for the arrays of in-arcs."""
    monkeypatch.setattr(policy, "facts_of", lambda g, d="cpu": Facts(large=True, directed=True))
    ends = np.random.default_rng(5).integers(0, 300, (2, 6000))
    graph = vg.Graph.from_edges(*ends, num_vertices=300)
    levels = vg.run(vg.algorithms.bfs, graph, source=1, device="python").level
    for transposed in (False, True):
        assert graph.has_transpose == transposed
        result = vg.run(vg.algorithms.bfs, graph, source=1, device="cuda")
        assert ("pull" in {r.direction for r in result.trace}) == transposed
        np.testing.assert_array_equal(result.level, levels)
        assert graph.in_ is not None


def test_in_another_order_of_vertices(gpu, graph):
    @vg.operator
    def own(v):
        v.y = v.x + vg.int64(v.out_degree)

    @vg.algorithm
    def degrees(graph, x: vg.vertex_property(vg.int64), add: vg.int64 = 5):
        y = graph.vertex_property(vg.int64)
        graph.vertex_apply(own)
        total = add + 1
        return y, total

    def body(i):
        return weighted_body(i).replace("x[v] * (long long)v +", "x[v] +")

    with written(body):
        result = vg.run(degrees, graph, device="cuda", relabel="degree", x=X)
    np.testing.assert_array_equal(result.y, X + graph.out_degree)


def test_a_graph_stays_on_the_device(emulated, graph):
    with written(weighted_body):
        vg.run(weighted, graph, device="cuda", x=X)
        assert emulated.uploads == 2  # the offsets, and x
        check(vg.run(weighted, graph, device="cuda", x=X, add=7), graph)
        assert emulated.uploads == 3  # x
        sharing = graph.with_edge_property("weight", np.ones(graph.num_arcs))
        vg.run(weighted, sharing, device="cuda", x=X)
        assert emulated.uploads == 4


def test_a_graph_goes_from_the_device_with_its_last_reference(emulated):
    graph = vg.Graph.from_edges([0, 1], [1, 2], num_vertices=300)
    with written(weighted_body):
        vg.run(weighted, graph, device="cuda", x=X)
    resident = resident_on(emulated)
    assert len(resident) == 1
    assert emulated.used > 0
    del graph
    gc.collect()
    assert len(resident) == 0
    assert emulated.used == 0


def test_a_layout_is_built_on_the_device_and_stays(emulated):
    ends = np.random.default_rng(5).integers(0, 300, (2, 900))
    graph = vg.Graph.from_edges(*ends, num_vertices=300, weight=np.arange(900))
    schedule = vg.Schedule().at("relax", direction=vg.PULL, drive=vg.TOPOLOGY, segments=4)
    want = vg.run(vg.algorithms.sssp, graph, source=1, schedule=schedule)
    assert [x.name for x in want.stats.layouts] == ["segments.4"]
    for _ in range(2):
        found = vg.run(vg.algorithms.sssp, graph, source=1, schedule=schedule, device="cuda")
        np.testing.assert_array_equal(found.dist, want.dist)
        (layout,) = found.stats.layouts
        assert (layout.name, layout.seconds > 0) == ("slices.75", True)
        assert emulated.uploads == 3  # in-arcs and weights, of which the rest was made on the device
    resident = resident_on(emulated)
    assert len(resident) == 5
    del graph, want, found
    gc.collect()
    assert len(resident) == 0


def test_the_memory_of_a_run_is_given_back(emulated, graph):
    with written(weighted_body):
        result = vg.run(weighted, graph, device="cuda", x=X)
        kept = emulated.used
        del result
        vg.run(weighted, graph, device="cuda", x=X)
    assert emulated.used == kept == graph.out.row_offsets.nbytes


def test_code_from_memory_and_from_disk(emulated, graph):
    with written(weighted_body):
        assert not vg.run(weighted, graph, device="cuda", x=X).stats.cached
        vg.run(weighted, graph, device="cuda", x=X)
        assert emulated.compiled == 1
        compiled._loaded.clear()
        again = vg.run(weighted, graph, device="cuda", x=X, add=7)
        assert again.stats.cached
        assert emulated.compiled == 1
        check(again, graph)
    with written(weighted_body), use(EmulatedDevice(block=32)) as other:
        assert not vg.run(weighted, graph, device="cuda", x=X).stats.cached
        assert other.compiled == 1


def test_a_program_that_ends_itself(gpu, graph):
    with written(failing_body), pytest.raises(vg.AlgorithmError, match="this is wrong"):
        vg.run(counted, graph, device="cuda", x=X)
    with written(weighted_body):
        check(vg.run(weighted, graph, device="cuda", x=X, add=7), graph)


@pytest.mark.parametrize("needed", [1000, 1324, 1325, 2649, 9000])
def test_a_list_that_is_too_short(gpu, graph, needed):
    with written(lambda i: listing_body(i, needed), with_list):
        result = vg.run(counted, graph, device="cuda", x=X)
    np.testing.assert_array_equal(result.y, X + 1)
    assert result.room == (1324 if needed <= 1324 else 2 * max(1324, needed))


@pytest.mark.parametrize("failure", [KeyboardInterrupt, ZeroDivisionError])
def test_an_exception_stops_the_kernel(gpu, graph, failure):
    seen = []

    def stop(progress):
        seen.append(progress)
        raise failure

    with written(endless_body), pytest.raises(failure):
        vg.run(counted, graph, device="cuda", x=X, progress=stop)
    (progress,) = seen
    assert (progress.rounds, progress.frontier_size, progress.edges) == (3, 17, 50)
    with written(weighted_body):
        check(vg.run(weighted, graph, device="cuda", x=X, add=7), graph)


def test_too_many_rounds_stop_the_kernel(gpu, graph):
    with (
        written(endless_body),
        pytest.raises(vg.AlgorithmError, match="max_rounds=2 rounds; active vertices in the last one: 17"),
    ):
        vg.run(counted, graph, device="cuda", x=X, max_rounds=2)


def test_ctrl_c_before_the_launch_is_known(emulated, graph, monkeypatch):
    """The kernel runs already: its memory stays until it has left."""
    launch, begun = emulated.launch, []

    def interrupted(*given):
        begun.append(launch(*given))
        raise KeyboardInterrupt

    monkeypatch.setattr(emulated, "launch", interrupted)
    with written(endless_body), pytest.raises(KeyboardInterrupt):
        vg.run(counted, graph, device="cuda", x=X)
    assert not begun[0].group.thread.is_alive()
    assert begun[0].done()


class Strike:
    """Raises KeyboardInterrupt before one bytecode of the executor's `watch` or what it calls, at this count."""

    def __init__(self, at):
        self.at, self.count, self.inside = at, 0, False

    def __call__(self, frame, event, _argument):
        if frame.f_code.co_filename != cuda_executor.__file__:
            return None
        if frame.f_code is cuda_executor.watch.__code__:
            self.inside = event != "return"
        if not self.inside:
            return None
        frame.f_trace_opcodes = True
        if (
            event == "opcode" and frame.f_lineno is not None
        ):  # else CPython loses the frame; no signal comes there
            self.count += 1
            if self.count == self.at:
                raise KeyboardInterrupt
        return self

    def during(self, action):
        """Whether an interrupt came out of `action`."""
        before = sys.gettrace()
        sys._getframe().f_trace_opcodes = (
            True  # Python 3.12 asks when tracing starts whether any frame wants opcodes
        )
        sys.settrace(self)
        try:
            action()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False


def test_an_interrupt_at_every_bytecode_of_leaving_a_kernel(emulated, graph, monkeypatch):
    """The first one leaves an endless kernel; a second one strikes before and behind it: memory stays all the same."""
    run = partial(vg.run, counted, graph, device="cuda", x=X)

    def interrupted(*_):
        raise KeyboardInterrupt

    with written(endless_body), monkeypatch.context() as patch:
        patch.setattr(cuda_executor, "_wait", interrupted)
        at, strike = 0, None
        while strike is None or strike.count >= at:
            at += 1
            strike = Strike(at)
            assert strike.during(run)
            under_way = [launch for launch in emulated.stream if launch.group.thread.is_alive()]
            assert len(under_way) <= len(cuda_executor._flights)
    assert at > 120
    with written(weighted_body):
        check(vg.run(weighted, graph, device="cuda", x=X, add=7), graph)
    assert not cuda_executor._flights
    assert not [launch for launch in emulated.stream if launch.group.thread.is_alive()]


def test_progress_counts_arcs_once(gpu, graph):
    seen = []

    def stop(progress):
        seen.append(progress)
        if len(seen) == 3:
            raise ZeroDivisionError

    with written(endless_body), pytest.raises(ZeroDivisionError):
        vg.run(counted, graph, device="cuda", x=X, progress=stop)
    assert [p.edges for p in seen] == [50, 50, 50]


def test_a_graph_in_memory_of_the_host(gpu, graph):
    with written(weighted_body):
        check(vg.run(weighted, graph, device="cuda", memory="host", x=X, add=7), graph)


def test_results_that_stay_on_the_device(gpu, graph):
    with written(weighted_body):
        result = vg.run(weighted, graph, output="cupy", x=X, add=7)
    y = result.y if isinstance(result.y, np.ndarray) else result.y.get()
    np.testing.assert_array_equal(y, vg.run(weighted, graph, device="cpu", x=X, add=7).y)
    if not isinstance(gpu, EmulatedDevice):
        assert type(result.y).__module__.startswith("cupy")
        assert hasattr(result.y, "__dlpack__")
    else:
        assert gpu.used == graph.out.row_offsets.nbytes + result.y.nbytes


class Lent(np.ndarray):
    """An array that is said to lie on a GPU."""

    __cuda_array_interface__ = None

    def get(self):
        return np.array(self)


def test_arguments_that_lie_on_the_device(emulated, graph):
    """They are neither fetched nor sent; a run on the CPU takes them as well."""
    with written(weighted_body):
        vg.run(weighted, graph, device="cuda", x=X, add=7)
        before = emulated.uploads
        check(vg.run(weighted, graph, device="cuda", x=X.view(Lent), add=7), graph)
        assert emulated.uploads == before
    check(vg.run(weighted, graph, device="cpu", x=X.view(Lent), add=7), graph)


def test_results_that_stay_on_the_device_in_another_order(gpu, graph):
    rank = np.arange(300)[::-1]
    with written(weighted_body):
        result = vg.run(weighted, graph, output="cupy", x=X)
        moved = result.reordered(rank)
    y, moved_y = (v if isinstance(v, np.ndarray) else v.get() for v in (result.y, moved.y))
    assert type(moved.y) is type(result.y)
    np.testing.assert_array_equal(moved_y, y[rank])


def test_small_graphs_get_small_grids(emulated):
    small = vg.Graph.from_edges([0], [1], num_vertices=3)
    large = vg.Graph.from_edges([0], [1], num_vertices=300)
    with written(weighted_body):
        vg.run(weighted, small, device="cuda", x=X[:3])
        vg.run(weighted, large, device="cuda", x=X)
        vg.run(weighted, vg.Graph.from_edges([], [], num_vertices=0), device="cuda", x=X[:0])
    assert emulated.grids == [1, 2, 1]


@pytest.mark.parametrize(("limit", "workers"), [(1 << 30, 4), (8 << 20, 3), (6 << 20, 2)])
def test_scratch_memory_takes_a_part_of_what_is_free(limit, workers):
    """The kernel says in `total` how many workers there are, plus a sum over their memory, which is all zero."""
    n = 79_000
    graph = vg.Graph.from_edges([0], [1], num_vertices=n)

    def with_scratch(interface):
        return replace(interface, args=(*interface.args, ArgSlot("scratch", "s", "int64")))

    def body(i):
        own, size = i.word("scratch", "s"), i.word("size", "num_vertices")
        return f"""
  if (thread == 0) {{
    u64 total = {i.workers()};
    for (u64 k = 0; k < {size} * {i.workers()}; k++) total += ((u64 *){own})[k];
    control[{i.layout.RESULTS}] = total;
  }}"""

    with use(EmulatedDevice(limit=limit)), written(body, with_scratch):
        assert vg.run(weighted, graph, device="cuda", x=np.zeros(n, np.int64)).total == workers


# --- memory that is short -------------------------------------------------------------------------------------


TRACE_BYTES = (1 << 16) * 48


def test_other_graphs_make_room(graph):
    large = vg.Graph.from_edges([0], [1], num_vertices=50_000)
    x = np.zeros(50_000, np.int64)
    run_bytes = TRACE_BYTES + 2 * x.nbytes
    with use(EmulatedDevice(limit=run_bytes + 400_000)) as device, written(weighted_body):
        result = vg.run(weighted, large, device="cuda", x=x, output="cupy")
        del result
        assert len(resident_on(device)) == 1
        larger = vg.Graph.from_edges([0], [1], num_vertices=55_000)
        check(
            vg.run(weighted, larger, device="cuda", x=np.ones(55_000, int), add=7),
            larger,
            np.ones(55_000, int),
        )
        assert len(resident_on(device)) == 1


def test_a_graph_without_room_stays_on_the_host(monkeypatch):
    n = 200_000
    x = np.arange(n)
    large = vg.Graph.from_edges([0], [1], num_vertices=n)
    with use(EmulatedDevice(limit=TRACE_BYTES + 2 * x.nbytes + 500_000)), written(weighted_body):
        with pytest.raises(vg.DeviceError, match=r'out of memory.*memory="host" leaves'):
            vg.run(weighted, large, device="cuda", memory="device", x=x, add=7)
        made, make_room = [], CUDA._make_room
        monkeypatch.setattr(CUDA, "_make_room", lambda self: made.append(make_room(self)))
        for tries in (2, 2):  # that it has no room is known from then on
            found = vg.run(weighted, large, device="cuda", x=x, add=7)
            check(found, large, x)
            assert found.stats.from_host
            assert len(made) == tries
        small = vg.Graph.from_edges([0], [1], num_vertices=10)
        assert not vg.run(weighted, small, device="cuda", x=np.ones(10, int), add=7).stats.from_host


def test_out_of_memory_leaves_a_device_that_works(graph):
    large = vg.Graph.from_edges([0], [1], num_vertices=500_000)
    with use(EmulatedDevice(limit=TRACE_BYTES + 100_000)) as device, written(weighted_body):
        sizes = r"out of memory: an emulated GPU has 3.25 MB of 3.25 MB free; the graph takes 2 MB"
        with pytest.raises(vg.DeviceError, match=sizes):
            vg.run(weighted, large, device="cuda", x=np.zeros(500_000, np.int64))
        gc.collect()
        assert device.used == 0
        check(vg.run(weighted, graph, device="cuda", x=X, add=7), graph)


def test_a_kernel_that_faults(emulated, graph):
    def wild(i):
        return "  *(volatile u64 *)(thread + 16) = 1;"

    with written(wild), pytest.raises(InternalError, match="address 0x10"):
        vg.run(counted, graph, device="cuda", x=X)
    with written(weighted_body):
        check(vg.run(weighted, graph, device="cuda", x=X, add=7), graph)

"""Sets of groups of CPU threads and GPUs: divided loops, and programs whose members exchange something through the
host. GPUs are emulated; a real one with `pytest -m cuda`."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import emulator
import numpy as np
import pytest
import test_divided_loops as divided
from emulated_device import INCLUDE, EmulatedDevice, emulated_machine
from kernels import INTERFACE
from library_arguments import NAMES, UNDIRECTED, arguments_for, graph_for
from peeling import cores
from test_cuts import CUT, cuts, run_on
from test_gpu_sets import fails_on_purpose, forever
from test_lists_on_a_gpu import emptied
from test_sets import FORMS, OTHER_VERTICES, PROGRAMS, REFUSED, placements, same_results, small_graph

import vgraph as vg
from vgraph.compiler.backends.abi import DESK, PEER
from vgraph.compiler.backends.base import Kernel
from vgraph.compiler.backends.context import ContextView, aligned_zeros
from vgraph.errors import InternalError
from vgraph.refusals.sets import NotOnASet
from vgraph.runtime import policy
from vgraph.runtime.devices import mixed_sets, threads
from vgraph.runtime.devices.cuda import memory, registry, use
from vgraph.runtime.devices.cuda.cupy_device import CupyDevice
from vgraph.runtime.devices.groups import members_of
from vgraph.runtime.devices.sets import reserved

CPU = vg.cpu(threads=1)
PAIR = [CPU, "cuda:0"]
SOME = divided.SOME


@contextmanager
def emulated(gpus: int = 1, **options: Any) -> Iterator[None]:
    """A machine with emulated GPUs, on which small graphs are work for several blocks."""
    reason = emulator.unavailable()
    if reason is not None:
        pytest.skip(reason)
    machine = emulated_machine(gpus, block=32, multiprocessors=3, at_desks=gpus, **options)
    with use(*machine), pytest.MonkeyPatch.context() as patch:
        patch.setattr(policy, "CUDA_ARCS_PER_THREAD", 1)
        patch.setitem(policy._NUMBERS, "policy.changed_bytes", 0)
        yield


@pytest.fixture(params=["emulated", pytest.param("real", marks=pytest.mark.cuda)])
def one_gpu(request: pytest.FixtureRequest) -> Iterator[None]:
    """A machine with a GPU beside its CPU."""
    if request.param == "emulated":
        with emulated():
            yield
        return
    try:
        registry.count()
    except vg.DeviceError as error:
        pytest.skip(str(error))
    yield


def run(
    algorithm: vg.AlgorithmDef, graph: vg.Graph, seed: int = 0, device: Any = PAIR, **given: Any
) -> vg.Result:
    """A run whose threads on GPUs interleave as the seed says, where they are emulated."""
    for gpu in registry._installed[-1] if registry._installed else ():
        if isinstance(gpu, EmulatedDevice):
            gpu.seed = seed
    return vg.run(algorithm, graph, device=device, **given)


# --- divided loops -----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("one_gpu")
def test_every_policy_gives_the_same() -> None:
    graph, sources = small_graph(), np.arange(20)
    expected = vg.run(vg.algorithms.betweenness, graph, sources=sources, threads=1)
    for k, share in enumerate(divided.POLICIES):
        for again in range(2):  # the second time it has a past
            got = run(vg.algorithms.betweenness, graph, 2 * k + again, share=share, sources=sources)
            same_results(got, expected)
            members = got.stats.members
            assert [m.name for m in members] == ["cpu(threads=1)", "cuda:0"]
            assert sum(m.iterations for m in members) == len(sources)
            assert all(0 <= m.seconds <= got.stats.run_seconds for m in members)
    assert [m.iterations for m in got.stats.members] == [0, len(sources)]  # of fixed_ratio(0, 1)
    assert got.stats.device == "set"


@pytest.mark.parametrize(
    ("name", "given", "directed"),
    [
        pytest.param(*row, marks=() if row[0] == "closeness" and row[1] else pytest.mark.slow)
        for row in divided.LIBRARY
    ],
)
@pytest.mark.usefixtures("one_gpu")
def test_the_library_divided(name: str, given: dict[str, Any], directed: bool) -> None:
    graph, algorithm = divided.small_graph(directed), getattr(vg.algorithms, name)
    expected = vg.run(algorithm, graph, threads=1, **given)
    for share in (vg.GREEDY, vg.fixed_ratio(1, 1), vg.ASYM_SIZE):
        same_results(run(algorithm, graph, 1, share=share, **given), expected)


@pytest.mark.usefixtures("one_gpu")
def test_all_that_iterations_may_share() -> None:
    graph = divided.small_graph(True)
    for k, sources in enumerate((SOME, np.zeros(0, np.int64), np.array([4]))):
        expected = vg.run(divided.many_searches, graph, device="python", sources=sources)
        for share in (vg.GREEDY, vg.fixed_ratio(1, 1), vg.fixed_ratio(0, 1), vg.fixed_ratio(1, 0)):
            got = run(divided.many_searches, graph, k, share=share, sources=sources)
            for name in expected.names:
                np.testing.assert_array_equal(getattr(got, name), getattr(expected, name))


@pytest.mark.parametrize(
    ("gpus", "device"),
    [
        (1, ["cuda:0"]),
        (2, ["cuda:0", "cuda:1"]),
        (2, ["cuda:1", CPU, "cuda:0"]),
        (1, [CPU, "cuda:0", vg.cpu(threads=2)]),
    ],
    ids=str,
)
def test_other_sets(gpus: int, device: list[Any]) -> None:
    graph = small_graph(False)
    with emulated(gpus):
        expected = vg.run(vg.algorithms.betweenness, graph, threads=1)
        for seed, share in enumerate((vg.GREEDY, vg.HASS, vg.AFFINITY_STEALING)):
            got = run(vg.algorithms.betweenness, graph, seed, device, share=share)
            same_results(got, expected)
            assert sum(m.iterations for m in got.stats.members) == graph.num_vertices
        if len(device) > gpus:
            expected = vg.run(vg.algorithms.bfs, graph, device="python", source=3)
            same_results(run(vg.algorithms.bfs, graph, 1, device, source=3), expected)


def test_a_policy_that_fails_ends_the_run() -> None:
    graph = divided.small_graph(True)
    with emulated():
        with pytest.raises(ZeroDivisionError, match="in a policy"):
            run(vg.algorithms.betweenness, graph, share=divided.Broken())
        with pytest.raises(Stop):
            run(vg.algorithms.betweenness, graph, share=divided.Endless(), progress=stop)
        got = run(vg.algorithms.betweenness, graph, share=vg.GREEDY)
        same_results(got, vg.run(vg.algorithms.betweenness, graph, threads=1))


# --- programs whose members exchange something -------------------------------------------------------------------


def agree(algorithm: vg.AlgorithmDef, graph: vg.Graph, given: dict[str, Any], **asked: Any) -> None:
    """All placements on two members give what one device does."""
    expected = vg.run(algorithm, graph, device="python", **given)
    for k, (count, placement) in enumerate(placements(graph.num_vertices)):
        if count == 2:
            for device in (PAIR, PAIR[::-1]):
                same_results(
                    run(algorithm, graph, k, device, placement=placement, **asked, **given), expected
                )


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=() if n in {"bfs", "pagerank"} else pytest.mark.slow)
        for n in NAMES
        if n not in OTHER_VERTICES
    ],
)
@pytest.mark.usefixtures("one_gpu")
def test_the_library(name: str) -> None:
    algorithm = getattr(vg.algorithms, name)
    graph = graph_for(algorithm, small_graph(name not in UNDIRECTED))
    given = arguments_for(algorithm, graph)
    if name in REFUSED:
        with pytest.raises(NotOnASet):
            run(algorithm, graph, **given)
        return
    agree(algorithm, graph, given)


@pytest.mark.parametrize(
    "name", ["all_writes", *(pytest.param(n, marks=pytest.mark.slow) for n in PROGRAMS if n != "all_writes")]
)
@pytest.mark.usefixtures("one_gpu")
def test_every_kind_of_write(name: str) -> None:
    algorithm, given = PROGRAMS[name]
    agree(algorithm, small_graph(name != "searches"), given)


@pytest.mark.parametrize(
    ("name", "label", "exchange"),
    [pytest.param(*form, marks=() if form[2] is vg.DELAYED else pytest.mark.slow) for form in FORMS],
)
@pytest.mark.usefixtures("one_gpu")
def test_forms_of_exchanges(name: str, label: str, exchange: Any) -> None:
    algorithm, schedule = getattr(vg.algorithms, name), vg.Schedule().at(label, exchange=exchange)
    agree(algorithm, small_graph(), {"source": 3}, schedule=schedule)


@pytest.mark.usefixtures("one_gpu")
def test_members_agree_on_the_lowest_bucket() -> None:
    schedule = vg.Schedule().at("relax", order=vg.delta_stepping(2))
    agree(vg.algorithms.sssp, small_graph(), {"source": 3}, schedule=schedule)


@pytest.mark.usefixtures("one_gpu")
def test_members_agree_on_the_lowest_of_a_queue() -> None:
    agree(cores, small_graph(directed=False), {})


@pytest.mark.usefixtures("one_gpu")
def test_arcs_of_anybody() -> None:
    algorithm, given = CUT["along_arcs"]
    graph = small_graph()
    expected = vg.run(algorithm, graph, device="python", **given)
    for count, cut in cuts(graph):
        if count == 2:
            same_results(run_on(cut, count, algorithm, graph, device=PAIR, **given), expected)


def test_the_cpu_leaves_a_thread_to_each_gpu() -> None:
    all_of_it = vg.cpu().threads
    found = members_of(["cpu", "cuda:0", "cuda:1"])
    assert [m.name for m in found] == [f"cpu(threads={max(1, all_of_it - 2)})", "cuda:0", "cuda:1"]
    assert members_of(["cpu"]) == (vg.cpu(),)


@pytest.mark.usefixtures("one_gpu")
def test_as_on_groups_of_threads() -> None:
    """The same parts, the same rounds, the same bytes."""
    graph = small_graph()
    placement = np.arange(graph.num_vertices) % 2
    mixed = run(vg.algorithms.bfs, graph, source=0, placement=placement)
    groups = vg.run(vg.algorithms.bfs, graph, device=[CPU, CPU], source=0, placement=placement)
    assert mixed.stats.exchanged_bytes == groups.stats.exchanged_bytes > 0
    assert [m.vertices for m in mixed.stats.members] == [m.vertices for m in groups.stats.members]
    assert (mixed.stats.rounds, mixed.stats.edges) == (groups.stats.rounds, groups.stats.edges)
    assert [r.frontier for r in mixed.trace] == [r.frontier for r in groups.trace]


@vg.operator
def raise_x(v, graph):
    v.x += graph.step


@vg.algorithm
def cools_down(graph, exact: bool = False):
    x = graph.vertex_property(vg.float64)
    graph.step = 8.0
    while graph.step > 0.001:
        graph.vertex_apply(raise_x)
        graph.step = graph.step / 3.0 if exact else vg.exp(-1.0 / graph.step)
        graph.step = min(graph.step, 0.9 * graph.step)
    return x


def test_scalars_on_which_devices_may_disagree_are_refused() -> None:
    with emulated():
        with pytest.raises(NotOnASet, match="the last bit of `exp`"):
            run(cools_down, small_graph())
        vg.run(cools_down, small_graph(), device=[CPU, CPU])


def test_iterations_have_the_schedules_of_one_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "LARGE", 1)
    on_two, on_one = (
        vg.explain(
            vg.algorithms.betweenness, small_graph(False), device=device, passes=False, **more
        ).schedule
        for device, more in ((["cuda:0", "cuda:1"], {"share": vg.ASYM}), ("cuda", {}))
    )
    assert on_two == on_one
    assert "reach: direction=auto" in on_one


def test_explain_needs_no_gpu() -> None:
    told = vg.explain(
        vg.algorithms.betweenness, small_graph(), device=["cpu", "cuda"], share=vg.ASYM, passes=False
    )
    assert "take(team, channel, " in told.cuda
    assert "are divided over the members" in told.reasons
    assert "cuda:0: " in told.members


# --- what goes wrong ----------------------------------------------------------------------------------------------


class Stop(Exception):
    """What a caller's progress function raises."""


def stop(_: object) -> None:
    raise Stop


def still_works() -> None:
    graph = small_graph()
    expected = vg.run(vg.algorithms.bfs, graph, source=0, device="python")
    same_results(run(vg.algorithms.bfs, graph, source=0), expected)


@pytest.mark.parametrize("error", [Stop, KeyboardInterrupt])
@pytest.mark.usefixtures("one_gpu")
def test_an_interrupt_ends_all_members_and_the_next_run_works(error: type[BaseException]) -> None:
    def raises(_: object) -> None:
        raise error

    with pytest.raises(error):
        run(forever, small_graph(), progress=raises)
    still_works()


@pytest.mark.usefixtures("one_gpu")
def test_a_program_that_ends_itself() -> None:
    with pytest.raises(vg.AlgorithmError, match="x is one"):
        run(fails_on_purpose, small_graph())
    still_works()


def test_a_gpu_without_room() -> None:
    with emulated(limit=1000), pytest.raises(vg.DeviceError, match="a GPU of the set has no room"):
        run(vg.algorithms.bfs, small_graph(), source=0)


def test_a_gpu_that_is_lost(tmp_path: Path) -> None:
    plant("peers->desk->mails = 0;", "__trap();", tmp_path)
    with emulated(include=tmp_path), pytest.raises(InternalError, match=r"__trap\(\)"):
        run(forever, small_graph())
    with emulated():
        still_works()


def test_a_gpu_that_another_run_has() -> None:
    with emulated(), reserved(members_of(["cuda:0"])), pytest.raises(vg.DeviceError, match="cuda:0 is busy"):
        still_works()


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_lists_that_are_too_short_on_the_gpu(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = small_graph()
    want = vg.run(emptied, graph, device="python", source=3)
    monkeypatch.setattr(mixed_sets, "LIST_SLACK", 0)
    with emulated():
        same_results(run(emptied, graph, seed, source=3), want)
        assert registry.device_for(0).launches > 1


@pytest.mark.parametrize("asked", [{"output": "cupy"}, {"threads": 2}, {"relabel": "degree"}], ids=str)
def test_what_is_for_one_device(asked: dict[str, Any]) -> None:
    with emulated(), pytest.raises(vg.ParameterError):
        run(vg.algorithms.bfs, small_graph(), source=0, **asked)


def test_without_a_gpu_the_set_is_named() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry.detect, "missing", lambda: "a GPU")
        patch.setattr(registry, "_devices", {})
        with pytest.raises(vg.DeviceError) as error:
            run(vg.algorithms.bfs, small_graph(), source=0)
    assert str(error.value) == 'device=[vg.cpu(threads=1), "cuda:0"] needs a GPU'


@pytest.mark.parametrize("cancelled", [False, True])
def test_nothing_is_answered_that_was_not_done(cancelled: bool) -> None:
    """Else a GPU would go on with what it had before, and may fail before it is cancelled, by another error."""
    context, native = ContextView(1), threads.native_runtime()
    words, peer = aligned_zeros(DESK.size), aligned_zeros(PEER.size)
    desk = words.view(DESK.dtype)
    peer.view(PEER.dtype)["desk"] = words.ctypes.data
    desk["asked"] = 1

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    def share(*_: object) -> None:
        desk["left"] = 1
        if cancelled:
            context.cancel()

    context.set("share", ctypes.cast(share, ctypes.c_void_p).value or 0)
    context.set("peer", peer.ctypes.data)
    threads.run_native(Kernel(native.serve, INTERFACE, native.owner), context, 1)
    assert desk["answered"] == (not cancelled)


@pytest.mark.parametrize("share", [None, vg.GREEDY], ids=str)
def test_a_part_that_is_too_large_stays_on_the_host(share: Any) -> None:
    rng = np.random.default_rng(0)
    graph = vg.Graph.from_edges(*rng.integers(0, 300, (2, 20_000)), num_vertices=300, directed=False)
    algorithm = vg.algorithms.bfs if share is None else vg.algorithms.closeness
    given: dict[str, Any] = {"source": 3} if share is None else {"vertices": np.arange(9)}
    want = vg.run(algorithm, graph, device="cpu", **given)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "TRACE_ROOM", 64)
        for limit, there in ((1 << 30, False), (120_000, True)):
            with emulated(limit=limit):
                more = {"device": PAIR, **given} | ({"share": share} if share is not None else {})
                found = vg.run(algorithm, graph, **more)
                same_results(found, want)
                assert found.stats.from_host == there
                assert vg.run(algorithm, graph, memory="host", **more).stats.from_host
                if there:
                    with pytest.raises(vg.DeviceError, match="a GPU of the set has no room"):
                        vg.run(algorithm, graph, memory="device", **more)


def test_memory_that_cannot_be_pinned_is_a_lack_of_memory() -> None:
    class Refused(Exception):
        status = 2

    def refuse(_: int) -> None:
        raise Refused

    gpu = object.__new__(CupyDevice)
    gpu._cuda = SimpleNamespace(
        alloc_pinned_memory=refuse, runtime=SimpleNamespace(CUDARuntimeError=Refused, errorMemoryAllocation=2)
    )
    with pytest.raises(MemoryError, match="pins no 8 bytes more"):
        gpu.pin(np.zeros(1))


# --- planted faults -----------------------------------------------------------------------------------------------


def plant(old: str, new: str, folder: Path) -> None:
    """Headers with other words."""
    for path in INCLUDE.glob("*.cuh"):
        text = path.read_text()
        assert path.name != "channel.cuh" or text.count(old) == 1
        (folder / path.name).write_text(text.replace(old, new) if path.name == "channel.cuh" else text)


FAULTS = {
    "blocks go on before the host has answered": ("while (seen < team.target) {", "while (false) {"),
    "blocks do not see to it that their buffers are filled": ("if (sent) __threadfence_system();", ""),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow if n.startswith("blocks go on") else ()) for n in FAULTS],
)
def test_faults_of_the_desk_are_found(name: str, tmp_path: Path) -> None:
    plant(*FAULTS[name], tmp_path)
    rng = np.random.default_rng(1)
    graph = vg.Graph.from_edges(*rng.integers(0, 150, (2, 600)), num_vertices=150, directed=False)
    want = vg.run(vg.algorithms.bfs, graph, device="python", source=3).level
    for include, wrong in ((INCLUDE, False), (tmp_path, True)):
        with emulated(include=include):
            # what is right is given all the time that a busy machine needs
            assert any(differs(graph, want, seed, 5 if wrong else 600) for seed in range(1, 25)) == wrong


def differs(graph: vg.Graph, want: np.ndarray, seed: int, seconds: float) -> bool:
    """Whether a search fails, goes wrong or does not end with this interleaving."""
    end = time.monotonic() + seconds

    def late(_: object) -> None:
        if time.monotonic() > end:
            raise Stop

    given = {"source": 3, "placement": np.arange(150) % 2}
    given["schedule"] = vg.Schedule().at("visit", volume=vg.DENSE)  # with fewer barriers before the exchange
    try:
        got = run(vg.algorithms.bfs, graph, seed, progress=late, **given)
    except (InternalError, Stop):
        return True
    return not np.array_equal(got.level, want)

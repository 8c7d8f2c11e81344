"""Programs on sets of GPUs: emulated ones whose grids interleave, and real ones with `pytest -m cuda`."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import emulator
import numpy as np
import pytest
from emulated_device import INCLUDE, EmulatedDevice, emulated_machine
from library_arguments import NAMES, UNDIRECTED, arguments_for, graph_for
from matrix import seed_of
from peeling import cores
from test_cuts import CUT, LABELS, cuts, run_on
from test_lists_on_a_gpu import emptied
from test_sets import (
    FORMS,
    OTHER_VERTICES,
    PROGRAMS,
    REFUSED,
    placements,
    pulls_twice,
    same_results,
    set_and_array,
    small_graph,
    taken,
)

import vgraph as vg
from vgraph.compiler.facts import Facts
from vgraph.errors import InternalError
from vgraph.refusals.sets import NotOnASet
from vgraph.runtime import policy
from vgraph.runtime.devices import gpu_sets
from vgraph.runtime.devices.cuda import memory, registry, use

BY_DEFAULT = {"bfs", "pagerank", "triangle_count"}
ALL = 4
"""GPUs of the emulated machine."""


@contextmanager
def emulated(**options: Any) -> Iterator[None]:
    """A machine of emulated GPUs, on which small graphs are work for several blocks."""
    reason = emulator.unavailable()
    if reason is not None:
        pytest.skip(reason)
    machine = emulated_machine(ALL, block=32, multiprocessors=3, **options)
    with use(*machine), pytest.MonkeyPatch.context() as patch:
        patch.setattr(policy, "CUDA_ARCS_PER_THREAD", 1)
        patch.setitem(policy._NUMBERS, "policy.changed_bytes", 0)
        yield


@pytest.fixture(params=["emulated", pytest.param("real", marks=pytest.mark.cuda)])
def gpus(request: pytest.FixtureRequest) -> Iterator[int]:
    """How many GPUs there are: four emulated ones, or with `-m cuda` those of the machine, or two halves of one."""
    if request.param == "emulated":
        with emulated():
            yield ALL
        return
    try:
        count = registry.count()
    except vg.DeviceError as error:
        pytest.skip(str(error))
    if count > 1:
        yield count
        return
    from half_gpu import halves

    with use(*halves()):
        yield 2


def names(count: int) -> list[str]:
    """A set of so many."""
    return [f"cuda:{k}" for k in range(count)]


def run(algorithm: vg.AlgorithmDef, graph: vg.Graph, count: int, seed: int = 0, **given: Any) -> vg.Result:
    """A run on a set whose threads interleave as the seed says, where they are emulated."""
    for device in registry._installed[-1] if registry._installed else ():
        if isinstance(device, EmulatedDevice):
            device.seed = seed
    return vg.run(algorithm, graph, device=names(count), **given)


def agree(
    algorithm: vg.AlgorithmDef, graph: vg.Graph, gpus: int, given: dict[str, Any], **asked: Any
) -> None:
    """All placements give what one device does."""
    expected = vg.run(algorithm, graph, device="python", **given)
    for k, (count, placement) in enumerate(placements(graph.num_vertices)):
        if count > gpus:
            continue
        seed = seed_of(algorithm.name, k) if k else 0
        same_results(run(algorithm, graph, count, seed, placement=placement, **asked, **given), expected)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=() if n in BY_DEFAULT else pytest.mark.slow)
        for n in NAMES
        if n not in OTHER_VERTICES
    ],
)
def test_the_library(name: str, gpus: int) -> None:
    algorithm = getattr(vg.algorithms, name)
    graph = graph_for(algorithm, small_graph(name not in UNDIRECTED))
    given = arguments_for(algorithm, graph)
    if name in REFUSED:
        with pytest.raises(NotOnASet):
            vg.run(algorithm, graph, device=names(2), **given)
        return
    agree(algorithm, graph, gpus, given)


@pytest.mark.parametrize(
    "name", ["all_writes", *(pytest.param(n, marks=pytest.mark.slow) for n in PROGRAMS if n != "all_writes")]
)
def test_every_kind_of_write(name: str, gpus: int) -> None:
    algorithm, given = PROGRAMS[name]
    agree(algorithm, small_graph(name != "searches"), gpus, given)


@pytest.mark.parametrize(
    ("name", "label", "exchange"),
    [pytest.param(*form, marks=() if form[2] is vg.DELAYED else pytest.mark.slow) for form in FORMS],
)
def test_forms_of_exchanges(name: str, label: str, exchange: Any, gpus: int) -> None:
    schedule = vg.Schedule().at(label, exchange=exchange)
    algorithm, graph = getattr(vg.algorithms, name), small_graph()
    expected = vg.run(algorithm, graph, device="python", source=3)
    for k, (count, placement) in enumerate(placements(graph.num_vertices)):
        if count <= gpus:
            got = run(algorithm, graph, count, k, source=3, placement=placement, schedule=schedule)
            result = "level" if name == "bfs" else "dist"
            np.testing.assert_array_equal(getattr(got, result), getattr(expected, result))


@pytest.mark.parametrize(
    "name", ["along_arcs", *(pytest.param(n, marks=pytest.mark.slow) for n in CUT if n != "along_arcs")]
)
def test_arcs_of_anybody(name: str, gpus: int) -> None:
    algorithm, given = CUT[name]
    graph = small_graph(name != "searches")
    expected = vg.run(algorithm, graph, device="python", **given)
    pulled = vg.Schedule()
    for label in LABELS[name]:
        pulled = pulled.at(label, exchange=vg.BASE)
    for k, (count, cut) in enumerate(cuts(graph)[:: 3 if name == "along_arcs" else 1]):
        if count <= gpus:
            asked = {"schedule": pulled} if k % 2 else {}
            same_results(
                run_on(cut, count, algorithm, graph, device=names(count), **asked, **given), expected
            )


def test_members_agree_on_the_lowest_bucket(gpus: int) -> None:
    schedule = vg.Schedule().at("relax", order=vg.delta_stepping(2))
    agree(vg.algorithms.sssp, small_graph(), gpus, {"source": 3}, schedule=schedule)


def test_members_agree_on_the_lowest_of_a_queue(gpus: int) -> None:
    agree(cores, small_graph(directed=False), gpus, {})


def test_a_frontier_stays_what_it_is_where_ghosts_have_to_be_known(gpus: int) -> None:
    schedule = vg.Schedule().at("first", exchange=vg.BASE).at("second", exchange=vg.BASE)
    agree(pulls_twice, small_graph(), gpus, {"seeds": [1, 5, 9, 20, 22]}, schedule=schedule)


def test_an_array_of_vertices_is_whole_where_it_is_a_set_too(gpus: int) -> None:
    agree(set_and_array, small_graph(), gpus, {"several": np.array([9, 3, 9, 0])})


@pytest.mark.parametrize(
    "options",
    [{"phases": vg.GATHER_APPLY}]
    + [{"balance": b} for b in (vg.VERTEX, vg.EDGE, vg.SPLIT(4), vg.TWC, vg.WARP, vg.BLOCK)],
    ids=str,
)
def test_parts_have_more_arcs_in_than_out(options: dict[str, Any], gpus: int) -> None:
    """One member has the sources of all arcs, the other the ends."""
    ends = np.random.default_rng(0).integers(0, 40, (2, 400)) + [[0], [40]]
    for source, end in (ends, ends[::-1]):
        graph = vg.Graph.from_edges(source, end, num_vertices=80)
        schedule = vg.Schedule().at("take", exchange=vg.BASE, **options)
        got = run(taken, graph, 2, placement=np.arange(80) // 40, schedule=schedule).x
        np.testing.assert_array_equal(got, 1 + graph.in_degree)


@pytest.mark.slow
def test_a_direction_for_each_round(gpus: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches that push and pull, each with what changed alone and with all."""
    graph = small_graph()
    want = vg.run(vg.algorithms.bfs, graph, device="python", source=3).level
    monkeypatch.setattr(policy, "facts_of", lambda graph, device: Facts(large=True))
    monkeypatch.setitem(policy._NUMBERS, "policy.set_share", 6)
    for seed in range(4):
        found = run(vg.algorithms.bfs, graph, 2, seed, source=3, placement=np.arange(graph.num_vertices) % 2)
        np.testing.assert_array_equal(found.level, want)
        assert {r.direction for r in found.trace} == {"push", "pull"}


def test_as_on_groups_of_threads(gpus: int) -> None:
    """The same parts, the same rounds, the same bytes."""
    graph = small_graph()
    on_gpus = run(vg.algorithms.bfs, graph, 2, source=0)
    on_cpus = vg.run(vg.algorithms.bfs, graph, device=[vg.cpu(threads=1)] * 2, source=0)
    assert on_gpus.stats.exchanged_bytes == on_cpus.stats.exchanged_bytes > 0
    assert [m.vertices for m in on_gpus.stats.members] == [m.vertices for m in on_cpus.stats.members]
    assert (on_gpus.stats.rounds, on_gpus.stats.edges) == (on_cpus.stats.rounds, on_cpus.stats.edges)
    assert [r.frontier for r in on_gpus.trace] == [r.frontier for r in on_cpus.trace]
    assert [m.name for m in on_gpus.stats.members] == ["cuda:0", "cuda:1"]
    assert all(0 <= m.seconds <= on_gpus.stats.run_seconds for m in on_gpus.stats.members)


def test_all_gpus(gpus: int) -> None:
    graph = small_graph()
    found = vg.run(vg.algorithms.bfs, graph, source=0, device="cuda:*")
    same_results(found, vg.run(vg.algorithms.bfs, graph, source=0, device="python"))
    assert [m.name for m in found.stats.members] == names(gpus)
    assert vg.prepare(vg.algorithms.bfs, graph, device="cuda:*") is not None


def test_all_gpus_where_there_is_one(gpu: Any) -> None:
    if gpu.place != "cuda:emulated":
        pytest.skip("about a machine with one GPU")
    found = vg.run(vg.algorithms.bfs, small_graph(), source=0, device="cuda:*")
    assert found.stats.members == ()


# --- what goes wrong ----------------------------------------------------------------------------------------------

WRONG = {
    "twice": (["cuda:1", "cuda:1"], "cuda:1 is in it twice"),
    "the same by another name": (["cuda", "cuda:0"], "cuda:0 is in it twice"),
    "no number": (["cuda:x", "cuda:1"], "GPUs are called"),
    "missing": (["cuda:0", "cuda:7"], "no such GPU; they are cuda:0 to cuda:3"),
}


@pytest.mark.parametrize("case", WRONG)
def test_sets_that_cannot_be(case: str) -> None:
    asked, message = WRONG[case]
    with emulated(), pytest.raises(vg.DeviceError, match=message):
        vg.run(vg.algorithms.bfs, small_graph(), source=0, device=asked)


@pytest.mark.parametrize("asked", [{"output": "cupy"}, {"threads": 2}, {"relabel": "degree"}], ids=str)
def test_what_is_for_one_gpu(asked: dict[str, Any]) -> None:
    with emulated(), pytest.raises(vg.ParameterError):
        vg.run(vg.algorithms.bfs, small_graph(), source=0, device=names(2), **asked)


def test_gpus_of_different_kinds() -> None:
    first, second = *emulated_machine(1, block=32), *emulated_machine(1, block=64)
    with use(first, second), pytest.raises(vg.DeviceError, match="GPUs of a set are of one kind"):
        vg.run(vg.algorithms.bfs, small_graph(), source=0, device=names(2))


def test_gpus_that_do_not_reach_each_other() -> None:
    first, second = *emulated_machine(1), *emulated_machine(1)
    with use(first, second), pytest.raises(vg.DeviceError, match="cannot use the memory of"):
        vg.run(vg.algorithms.bfs, small_graph(), source=0, device=names(2))


def test_two_runs_may_not_have_the_same_gpu() -> None:
    seen = []

    def again(_: object) -> None:
        if not seen:
            with pytest.raises(vg.DeviceError, match="cuda:1 is busy") as error:
                vg.run(vg.algorithms.bfs, small_graph(), source=0, device=["cuda:2", "cuda:1"])
            seen.append(error)
            raise KeyboardInterrupt

    with emulated(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("vgraph.runtime.devices.cuda.executor._PROGRESS_SECONDS", 0)
        with pytest.raises(KeyboardInterrupt):
            vg.run(forever, small_graph(), device=names(2), progress=again)
        assert seen
        run(vg.algorithms.bfs, small_graph(), 2, source=0)


@vg.operator
def turn(v):
    v.x = 1 - v.x


@vg.algorithm
def forever(graph):
    x = graph.vertex_property(vg.int64, 0)
    x[0] = 1
    while x[0] + x[1] == 1:
        graph.vertex_apply(turn)
    return x


@vg.algorithm
def fails_on_purpose(graph):
    x = graph.vertex_property(vg.int64, 0)
    for _ in range(3):
        graph.vertex_apply(turn)
    if x[3] == 1:
        vg.fail("x is one")
    return x


def test_a_program_that_ends_itself(gpus: int) -> None:
    with pytest.raises(vg.AlgorithmError, match="x is one"):
        run(fails_on_purpose, small_graph(), 2)
    run(vg.algorithms.bfs, small_graph(), 2, source=0)


def test_a_member_that_does_not_come() -> None:
    with emulated(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu_sets, "PATIENCE", 1)
        with pytest.raises(vg.DeviceError, match=r"cuda:\d waited in vain for cuda:\d to come"):
            run(vg.algorithms.pagerank, small_graph(), 3, 1)
    with emulated():
        run(vg.algorithms.bfs, small_graph(), 3, source=0)


def test_a_gpu_without_room() -> None:
    with emulated(limit=1000), pytest.raises(vg.DeviceError, match="a GPU of the set has no room"):
        run(vg.algorithms.bfs, small_graph(), 3, source=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_lists_that_are_too_short_on_some_members(seed: int) -> None:
    graph = small_graph()
    want = vg.run(emptied, graph, device="python", source=3)
    with emulated(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu_sets, "LIST_SLACK", 0)
        same_results(run(emptied, graph, 3, seed, source=3), want)
        assert registry.device_for(0).launches > 1


def test_a_graph_too_large_for_one_gpu() -> None:
    """Of 162 KB, on GPUs that have 150 and 120: so many have room for their parts, fewer leave them on the host."""
    rng = np.random.default_rng(0)
    graph = vg.Graph.from_edges(*rng.integers(0, 600, (2, 20_000)), num_vertices=600, directed=False)
    want = vg.run(vg.algorithms.bfs, graph, device="cpu", source=3).level
    for limit, least in ((150_000, 2), (120_000, 3)):
        with emulated(limit=limit), pytest.MonkeyPatch.context() as patch:
            patch.setattr(memory, "TRACE_ROOM", 64)
            for count in range(1, ALL + 1):
                if count < least:
                    with pytest.raises(vg.DeviceError, match="out of memory"):
                        run(vg.algorithms.bfs, graph, count, source=3, memory="device")
                found = run(vg.algorithms.bfs, graph, count, source=3)
                np.testing.assert_array_equal(found.level, want)
                assert found.stats.from_host == (count < least)


def test_explain_needs_no_gpu() -> None:
    dense = vg.Schedule().at("relax", volume=vg.DENSE)
    told = vg.explain(vg.algorithms.sssp, small_graph(), device=names(2), schedule=dense, passes=False)
    assert "all_to_all(team, channel, mail(dist_to_owners, 0, TO_OWNERS))" in told.cuda
    assert told.members.count("ghosts") == 2
    with pytest.raises(vg.DeviceError, match=r'sets, as \["cuda:0", "cuda:1"\]'):
        vg.explain(vg.algorithms.sssp, small_graph(), device="cuda:*")


# --- planted faults -----------------------------------------------------------------------------------------------

FAULTS = {
    "another thread sends what one has written": (
        "for (u64 k = thread_number();",
        "for (u64 k = (thread_number() + 33) % num_threads();",
    ),
    "blocks do not see to it that what they sent is there": (
        "if (sent) __threadfence_system();",
        "",
    ),
    "it is told before all blocks have sent": (
        "while (acquire(&control->arrived) < team.target)",
        "while (false)",
    ),
    "nobody waits for the last to come": (
        "acquire_system(&arrived[p]) < turn",
        "acquire_system(&arrived[p]) + 1 < turn",
    ),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow if n.startswith("nobody") else ()) for n in FAULTS],
)
def test_faults_of_the_channel_are_found(name: str, tmp_path: Path) -> None:
    old, new = FAULTS[name]
    for path in INCLUDE.glob("*.cuh"):
        text = path.read_text()
        assert path.name != "channel.cuh" or text.count(old) == 1
        (tmp_path / path.name).write_text(text.replace(old, new) if path.name == "channel.cuh" else text)
    rng = np.random.default_rng(1)
    graph = vg.Graph.from_edges(*rng.integers(0, 150, (2, 600)), num_vertices=150, directed=False)
    want = vg.run(vg.algorithms.bfs, graph, device="python", source=3).level
    for include, wrong in ((INCLUDE, False), (tmp_path, True)):
        with emulated(every_access=True, include=include):
            assert any(differs(graph, want, seed) for seed in range(1, 7)) == wrong


def differs(graph: vg.Graph, want: np.ndarray, seed: int) -> bool:
    """Whether a search fails or goes wrong with this interleaving."""
    try:
        return not np.array_equal(run(vg.algorithms.bfs, graph, 2, seed, source=3).level, want)
    except InternalError:
        return True


class Stop(Exception):
    """What a caller raises."""


def test_mailboxes_of_others_outlive_a_member(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that a second Ctrl-C has abandoned may still write into the memory of one that has left."""
    left, boxes = [], []

    def abandoned(there: Any, memories: Any) -> None:
        joined(there, memories)
        names = there[0].call.plan.interface.mailboxes
        left.append(memories[1])
        boxes.extend(weakref.ref(memories[0].arrays[name]) for name in names)
        raise Stop

    joined = gpu_sets._joined
    with emulated():
        monkeypatch.setattr(gpu_sets, "_joined", abandoned)
        with pytest.raises(Stop):
            vg.run(vg.algorithms.pagerank, small_graph(), device=names(2))
        gc.collect()
        assert boxes
        assert all(box() is not None for box in boxes)
        left.clear()

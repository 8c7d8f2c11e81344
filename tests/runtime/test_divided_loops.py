"""Loops over independent sources, divided over the members of a set of devices."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler.backends.context import ContextView
from vgraph.refusals.sets import NotDivided
from vgraph.runtime.devices import shares
from vgraph.runtime.devices.groups import CPUGroup
from vgraph.runtime.devices.shares import Shared, Shares
from vgraph.sharing import Division, Policy

TWO = [vg.cpu(threads=1), vg.cpu(threads=1)]
POLICIES = [
    vg.NAIVE, vg.ASYM, vg.ASYM_CONV, vg.ASYM_SIZE, vg.SHARED_QUEUE, vg.SAMPLE_WEIGHTED, vg.ORACLE, vg.QILIN, vg.MIN_MIN,
    vg.GREEDY, vg.HASS, vg.CHUNK_AFFINITY, vg.AFFINITY_STEALING, vg.fixed_ratio(1, 2), vg.fixed_ratio(0, 1),
]  # fmt: skip
SOME = np.array([7, 3, 11, 3, 0])
LIBRARY = [
    ("betweenness", {}, True),
    ("betweenness", {"sources": SOME, "targets": [1, 2, 5], "endpoints": True}, False),
    ("weighted_betweenness", {"sources": SOME}, False),
    ("closeness", {}, True),
    ("closeness", {"vertices": SOME}, True),
    ("weighted_closeness", {"vertices": SOME}, True),
    ("eccentricity", {}, True),
    ("harmonic_centrality", {}, False),
]


def small_graph(directed: bool, seed: int = 0, n: int = 150) -> vg.Graph:
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 9, 2 * n)
    return vg.Graph.from_edges(
        *rng.integers(0, n, (2, 2 * n)), num_vertices=n, directed=directed, multi_edges=False, weight=weight
    )


def assert_same(got: vg.runtime.result.Result, expected: vg.runtime.result.Result) -> None:
    for name in expected.names:
        a, b = getattr(expected, name), getattr(got, name)
        if np.asarray(a).dtype.kind == "f":
            np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-12)
        else:
            np.testing.assert_array_equal(b, a)


@pytest.mark.parametrize(
    ("name", "given", "directed"),
    [pytest.param(*case, marks=() if k in (1, 4) else pytest.mark.slow) for k, case in enumerate(LIBRARY)],
)
def test_the_library_divided(name, given, directed):
    algorithm, graph = getattr(vg.algorithms, name), small_graph(directed)
    expected = vg.run(algorithm, graph, threads=1, **given)
    for share, devices in (
        (vg.fixed_ratio(1, 2), TWO),
        (vg.GREEDY, [vg.cpu(threads=2), vg.cpu(threads=1), vg.cpu(threads=1)]),
    ):
        got = vg.run(algorithm, graph, device=devices, share=share, **given)
        assert_same(got, expected)
        batches = 150 if name == "betweenness" else 3
        assert sum(m.iterations for m in got.stats.members) == (len(SOME) if given else batches)


@pytest.mark.parametrize("share", POLICIES, ids=repr)
def test_every_policy_gives_the_same(share):
    graph = small_graph(True)
    expected = vg.run(vg.algorithms.betweenness, graph, threads=1)
    for _ in range(2):  # the second time it has a past
        got = vg.run(vg.algorithms.betweenness, graph, device=TWO, share=share)
        assert_same(got, expected)
        assert sum(m.iterations for m in got.stats.members) == graph.num_vertices


def test_a_slowed_member_gets_less():
    devices = [CPUGroup(1), CPUGroup(1, slowed=20.0)]
    got = vg.run(vg.algorithms.betweenness, small_graph(False, n=400), device=devices, share=vg.GREEDY)
    fast, slow = (m.iterations for m in got.stats.members)
    assert fast + slow == 400
    assert fast > slow  # how much, says the next test, whatever else the machine does


def test_how_long_a_slowed_member_sleeps(monkeypatch):
    class Clock:
        now = 0.0

        def perf_counter(self):
            return self.now

        def sleep(self, seconds):
            self.now += seconds

    clock, graph = Clock(), small_graph(False)
    monkeypatch.setattr(shares, "time", clock)
    for slowed in (1.0, 20.0):
        run = Shares(Shared(vg.GREEDY, graph, ""), [CPUGroup(1, slowed=slowed)], graph, {})
        run.join(ContextView(1), {})
        run._slow_down(0)  # it has had nothing so far
        assert clock.now == 0.0
        run._since[0], clock.now = 5.0, 7.0  # it took 2 s
        run._slow_down(0)
        assert clock.now == pytest.approx(5.0 + 2.0 * slowed)
        clock.now = 0.0


def test_a_loop_that_is_over_is_forgotten(monkeypatch):
    made = []
    init = Shares.__init__
    monkeypatch.setattr(Shares, "__init__", lambda run, *given: made.append(run) or init(run, *given))
    vg.run(vg.algorithms.betweenness, small_graph(True), device=TWO, share=vg.GREEDY)
    assert len(made) == 1
    assert not made[0]._loops


class Fails(Policy):
    """A user's policy that fails whenever it is asked."""

    def divide(self, work, workers, past):
        raise ZeroDivisionError(f"dividing {work.count}")


def test_the_first_failure_is_told():
    graph = small_graph(True)
    run, context, taken = Shares(Shared(Fails(), graph, ""), TWO, graph, {}), ContextView(1), np.ones(2, int)
    run.join(context, {"x.taken": taken})
    for count in (3, 4):
        taken[:] = 7  # of the loop before
        run.give(context.address, count, taken.ctypes.data)
        assert taken.tolist() == [0, 0]
        assert context.get("cancel")
    assert str(run.failure) == "dividing 3"


def test_what_runs_have_shown_is_kept_with_the_graph():
    graph = small_graph(False)
    for share in (vg.SAMPLE_WEIGHTED, vg.SAMPLE_WEIGHTED, vg.GREEDY):
        vg.run(vg.algorithms.betweenness, graph, device=TWO, share=share)
    shared = Shared(vg.SAMPLE_WEIGHTED, graph, vg.algorithms.betweenness.describe())
    past = shared.past("sources.taken", TWO)
    assert len(past) == 2
    assert all(sum(o.done) == graph.num_vertices and o.makespan > 0 for o in past)
    assert not Shared(vg.SAMPLE_WEIGHTED, small_graph(False), "betweenness").past("sources.taken", TWO)


def test_ratios_place_programs_without_such_a_loop():
    graph = small_graph(True, n=600)
    expected = vg.run(vg.algorithms.pagerank, graph, threads=1)
    got = vg.run(vg.algorithms.pagerank, graph, device=TWO, share=vg.fixed_ratio(3, 1))
    assert_same(got, expected)
    one, two = (m.vertices + m.arcs for m in got.stats.members)
    assert one == pytest.approx(3 * two, rel=0.05)
    for step in range(3):
        got = vg.run(vg.algorithms.pagerank, graph, device=TWO, share=vg.ORACLE)
        total = sum(m.vertices + m.arcs for m in got.stats.members)
        assert got.stats.members[0].vertices + got.stats.members[0].arcs == pytest.approx(
            step * total / 10, abs=20
        )


def test_a_small_share_is_not_nothing():
    got = vg.run(vg.algorithms.pagerank, small_graph(True, n=600), device=TWO, share=vg.fixed_ratio(300, 1))
    assert 0 < got.stats.members[1].vertices < 20


# --- what iterations share ---------------------------------------------------------------------------------------


@vg.operator
def visit(src, edge, dst, graph):
    if dst.level == -1:
        dst.level = graph.depth


@vg.operator
def count(v, graph):
    v.reached += 1
    v.far = max(v.far, graph.depth)
    v.near = min(v.near, graph.depth)
    graph.total += graph.depth
    graph.deepest = max(graph.deepest, graph.depth)


@vg.algorithm
def many_searches(graph, sources: vg.array(vg.vertex), rounds: int = 2):
    level = graph.vertex_property(vg.int64)
    reached = graph.vertex_property(vg.int64, fill=5)
    far = graph.vertex_property(vg.int64, fill=2)
    near = graph.vertex_property(vg.int64, fill=99)
    last = graph.vertex_property(vg.int64, fill=-7)
    graph.total = 10
    graph.deepest = 0
    rounds_of_all = 3
    widest = 0
    for _ in range(rounds):
        for source in sources:
            level[:] = -1
            level[source] = 0
            graph.depth = 0
            frontier = graph.frontier(source)
            while frontier:
                graph.vertex_apply(count, frontier)
                widest = max(widest, len(frontier))
                rounds_of_all += 1
                graph.depth += 1
                frontier = graph.edge_apply(visit, frontier)
            last[source] = graph.depth
    return reached, far, near, last, graph.total, graph.deepest, rounds_of_all, widest


def test_all_that_iterations_may_share():
    graph = small_graph(True)
    for sources in (SOME, np.zeros(0, np.int64), np.array([4])):
        expected = vg.run(many_searches, graph, device="python", sources=sources)
        for count_ in (1, 2, 3):
            got = vg.run(
                many_searches, graph, device=[vg.cpu(threads=1)] * count_, share=vg.GREEDY, sources=sources
            )
            for name in expected.names:
                np.testing.assert_array_equal(getattr(got, name), getattr(expected, name))


@vg.operator
def add_what_is_left(v, graph):
    v.reached += v.level + graph.depth


@vg.algorithm
def reads_what_another_loop_left(graph, sources: vg.array(vg.vertex)):
    level = graph.vertex_property(vg.int64)
    reached = graph.vertex_property(vg.int64)
    depth = 0
    for source in sources:
        level[:] = -1
        level[source] = 0
        graph.depth = 0
        depth = 0
        frontier = graph.frontier(source)
        while frontier:
            graph.depth += 1
            depth += 1
            frontier = graph.edge_apply(visit, frontier)
    total = 0
    for _ in sources:
        graph.vertex_apply(add_what_is_left)
        total += depth
    return reached, total


@vg.algorithm
def two_loops_of_searches(graph, sources: vg.array(vg.vertex)):
    level = graph.vertex_property(vg.int64)
    reached = graph.vertex_property(vg.int64)
    graph.depth = 0
    for _ in sources:
        level[:] = 1
        graph.depth = 2
        graph.vertex_apply(add_what_is_left)
    for _ in sources:
        graph.depth = 5
        level[:] = -1
        graph.vertex_apply(add_what_is_left)
    return reached


def test_what_one_loop_leaves_and_another_reads_is_not_private():
    """Whichever member has nothing to do. What each loop makes anew may have the same name in both."""
    graph, sources = small_graph(True), np.array([7, 3, 11, 0])
    for algorithm, divided in ((reads_what_another_loop_left, 1), (two_loops_of_searches, 2)):
        expected = vg.run(algorithm, graph, device="python", sources=sources)
        for share in (vg.fixed_ratio(0, 1), vg.fixed_ratio(1, 0)):
            got = vg.run(algorithm, graph, device=TWO, share=share, sources=sources)
            assert_same(got, expected)
            assert sum(m.iterations for m in got.stats.members) == divided * len(sources)


@vg.operator
def carry(v, graph):
    v.seen = v.seen + v.fresh
    v.fresh = 1


@vg.operator
def add(v):
    v.seen += 1


@vg.operator
def leave(v, graph):
    graph.hits += v.seen


@vg.algorithm
def reads_what_others_left(graph, sources: vg.array(vg.vertex)):
    seen = graph.vertex_property(vg.int64)
    fresh = graph.vertex_property(vg.int64)
    for source in sources:
        frontier = graph.frontier(source)
        graph.vertex_apply(carry, frontier)
    return seen


@vg.algorithm
def reads_a_sum_under_way(graph, sources: vg.array(vg.vertex)):
    seen = graph.vertex_property(vg.int64)
    graph.hits = 0
    for source in sources:
        graph.vertex_apply(add, graph.frontier(source))
        graph.vertex_apply(leave)
    return seen, graph.hits


@vg.operator
def mark(v):
    v.marked = v.marked or v.out_degree > 0


@vg.algorithm
def looks_who_is_marked(graph, sources: vg.array(vg.vertex)):
    marked = graph.vertex_property(vg.bool_)
    seen = graph.vertex_property(vg.int64)
    for source in sources:
        graph.vertex_apply(mark, graph.frontier(source))
        graph.vertex_apply(add, graph.frontier(marked))
    return seen


@vg.algorithm
def begins_with_the_marked(graph, sources: vg.array(vg.vertex)):
    marked = graph.vertex_property(vg.bool_)
    seen = graph.vertex_property(vg.int64)
    graph.vertex_apply(mark)
    for _ in sources:
        graph.vertex_apply(add, graph.frontier(marked))
    return seen


def test_all_of_a_set_that_was_marked_before():
    """Who owns a vertex marks it; each iteration needs all."""
    graph = small_graph(True)
    expected = vg.run(begins_with_the_marked, graph, device="python", sources=SOME)
    for share in (vg.fixed_ratio(0, 1), vg.fixed_ratio(1, 0)):
        got = vg.run(begins_with_the_marked, graph, device=TWO, share=share, sources=SOME)
        assert_same(got, expected)
        assert sum(m.iterations for m in got.stats.members) == len(SOME)


@vg.algorithm
def stops_early(graph, sources: vg.array(vg.vertex)):
    seen = graph.vertex_property(vg.int64)
    found = 0
    for source in sources:
        graph.vertex_apply(add, graph.frontier(source))
        found += 1
        if found > 2:
            break
    return seen


@vg.algorithm
def returns_the_last(graph, sources: vg.array(vg.vertex)):
    seen = graph.vertex_property(vg.int64)
    for source in sources:
        seen[:] = 0
        graph.vertex_apply(add, graph.frontier(source))
    return seen


@vg.algorithm
def goes_on_from_the_last(graph, sources: vg.array(vg.vertex)):
    seen = graph.vertex_property(vg.int64)
    frontier = graph.frontier()
    for source in sources:
        graph.vertex_apply(add, frontier)
        frontier = graph.frontier(source)
    return seen


@vg.algorithm
def counts_iterations(graph, sources: vg.array(vg.vertex)):
    seen = graph.vertex_property(vg.int64)
    turns = graph.vertex_property(vg.int64)
    turn = 0
    for source in sources:
        graph.vertex_apply(add, graph.frontier(source))
        turn += 1
        turns[source] = turn
    return seen, turns


@vg.algorithm
def stores_elsewhere(graph, sources: vg.array(vg.vertex)):
    seen = graph.vertex_property(vg.int64)
    turns = graph.vertex_property(vg.int64)
    for k in range(len(sources)):
        graph.vertex_apply(add)
        turns[sources[0]] = k
    return seen, turns


@vg.operator
def lower(src, edge, dst):
    dst.low = min(dst.low, src.id)


@vg.algorithm
def goes_where_it_is_lower(graph, sources: vg.array(vg.vertex)):
    low = graph.vertex_property(vg.int64, fill=1000)
    for source in sources:
        frontier = graph.frontier(source)
        while frontier:
            frontier = graph.edge_apply(lower, frontier)
    return low


@vg.operator
def hit(v):
    v.struck |= True


@vg.algorithm
def looks_where_others_struck(graph, sources: vg.array(vg.vertex)):
    struck = graph.vertex_property(vg.bool_)
    seen = graph.vertex_property(vg.int64)
    for source in sources:
        graph.vertex_apply(hit, graph.frontier(source))
        graph.vertex_apply(add, graph.frontier(struck))
    return seen


@vg.algorithm
def no_loop(graph):
    seen = graph.vertex_property(vg.int64)
    graph.vertex_apply(add)
    return seen


DEPENDENT = [
    (reads_what_others_left, "v.seen = v.seen + v.fresh", "`fresh` may still be"),
    (reads_a_sum_under_way, "v.seen += 1", "`seen` may still be"),
    (looks_who_is_marked, "v.marked = v.marked or", "`marked` may still be"),
    (stops_early, "break", "decides whether there is another"),
    (returns_the_last, "return seen", "`seen` is used outside the loop"),
    (goes_on_from_the_last, "graph.vertex_apply(add, frontier)", "from before the loop"),
    (counts_iterations, "turn", "`turn` goes from iteration to iteration"),
    (stores_elsewhere, "return seen, turns", "`turns` is used outside the loop"),
    (goes_where_it_is_lower, "dst.low = min", "`low` may still be"),
    (looks_where_others_struck, "v.struck |= True", "`struck` may still be"),
    (no_loop, "def no_loop", "no loop `for s in sources:`"),
]


@pytest.mark.parametrize(("algorithm", "line", "reason"), DEPENDENT, ids=lambda x: getattr(x, "name", ""))
def test_iterations_that_depend_on_each_other_are_refused(algorithm, line, reason):
    given = {} if algorithm is no_loop else {"sources": SOME}
    with pytest.raises(NotDivided) as refused:
        vg.run(algorithm, small_graph(True), device=TWO, share=vg.ASYM, **given)
    text = str(refused.value)
    assert reason in text
    assert line in refused.value.span.source.line(refused.value.span.line)
    assert "leave `share` out" in text


# --- what was there before the loop ------------------------------------------------------------------------------


@vg.operator
def tell(v):
    v.odd = v.id % 2 == 1


@vg.operator
def add_level(v, graph):
    v.seen += v.level + graph.step


@vg.algorithm
def from_properties_and_arrays(graph, sources: vg.array(vg.vertex), several: vg.array(vg.vertex)):
    odd = graph.vertex_property(vg.bool_)
    seen = graph.vertex_property(vg.int64)
    graph.vertex_apply(tell)
    for source in sources:
        graph.vertex_apply(add, graph.frontier(odd))
        graph.vertex_apply(add, graph.frontier(several))
        graph.vertex_apply(add, graph.frontier(source))
    return seen


@vg.algorithm
def from_the_loop_before(graph, sources: vg.array(vg.vertex), several: vg.array(vg.vertex)):
    level = graph.vertex_property(vg.int64)
    seen = graph.vertex_property(vg.int64)
    graph.step = 1
    height = 0
    total = 0
    for source in several:
        level[:] = 0
        level[source] = 5
        height = 3
        graph.step = 2
        graph.vertex_apply(add_level)
    for source in sources:
        graph.vertex_apply(add_level)
        seen[source] += 1
        total += height
    return seen, total


@pytest.mark.parametrize("several", [[140], [1, 70, 140]], ids=len)
@pytest.mark.parametrize(
    "algorithm", [from_properties_and_arrays, from_the_loop_before], ids=lambda a: a.name
)
def test_iterations_find_what_was_there_before(algorithm, several):
    graph, given = small_graph(True), {"sources": SOME, "several": np.array(several)}
    expected = vg.run(algorithm, graph, device="python", **given)
    assert_same(vg.run(algorithm, graph, device=TWO, share=vg.fixed_ratio(1, 1), **given), expected)


# --- how it is asked for, and faults -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"share": "asym", "device": TWO}, "a policy, such as vg.ASYM_SIZE"),
        ({"share": vg.ASYM}, r"give device=\[...\]"),
        ({"share": vg.fixed_ratio(1, 1), "device": TWO, "placement": np.zeros(150, int)}, "both say"),
        ({"share": vg.fixed_ratio(1, 1, 1), "device": TWO}, "3 shares, and the set 2 members"),
        (
            {"share": vg.sharing.ChunkAffinity(rank="degree"), "device": TWO},
            "rank='degree': 'arcs' or 'variance'",
        ),
        ({"share": vg.sharing.AffinityStealing(attempts=-1), "device": TWO}, "attempts=-1: "),
        ({"share": vg.sharing.Hass(rounds=0), "device": TWO}, "rounds=0: "),
        ({"share": vg.sharing.Qilin(train=1.5), "device": TWO}, r"train=1\.5: "),
    ],
)
def test_shares_that_cannot_be(more, message):
    with pytest.raises(vg.ParameterError, match=message):
        vg.run(vg.algorithms.betweenness, small_graph(True), **more)


class Broken(Policy):
    """A user's policy that fails in the middle."""

    def divide(self, work, workers, past):
        class Fails(Division):
            def next(self, member, now):
                if self.head > 20:
                    raise ZeroDivisionError("in a policy")
                return self.front(1)

        return Fails(work, workers)


class Gives(Policy):
    """A user's policy that gives everybody the same, and then nothing."""

    def __init__(self, found):
        self.found = found

    def divide(self, work, workers, past):
        found = self.found

        class Same(Division):
            def next(self, member, now):
                return range(0) if self.done[member] else found

        return Same(work, workers)


@pytest.mark.parametrize(
    "found",
    [range(150), range(140, 151), range(-5, 0), range(0, 150, 2), range(9, -1, -1), [1, 2], range(0)],
    ids=str,
)
def test_what_a_policy_may_not_give(found):
    """Twice, beyond the end, before the beginning, with gaps, and none at all: it is refused before it runs."""
    message = "150 of 150 iterations to nobody" if found == range(0) else "of 150 iterations: a range"
    with pytest.raises(vg.ParameterError, match=message):
        vg.run(vg.algorithms.betweenness, small_graph(True), device=TWO, share=Gives(found))


class Endless(Policy):
    """A user's policy with which everybody waits."""

    def divide(self, work, workers, past):
        class Waits(Division):
            def next(self, member, now):
                return None

        return Waits(work, workers)


def test_a_policy_that_fails_ends_the_run():
    graph = small_graph(True)
    with pytest.raises(ZeroDivisionError, match="in a policy"):
        vg.run(vg.algorithms.betweenness, graph, device=TWO, share=Broken())

    class Stop(Exception):
        pass

    def stop(_):
        raise Stop

    with pytest.raises(Stop):
        vg.run(vg.algorithms.betweenness, graph, device=TWO, share=Endless(), progress=stop)
    got = vg.run(vg.algorithms.betweenness, graph, device=TWO, share=vg.GREEDY)
    assert_same(got, vg.run(vg.algorithms.betweenness, graph, threads=1))


def test_explain_tells_what_is_divided():
    told = vg.explain(vg.algorithms.betweenness, small_graph(False), device=TWO, share=vg.ASYM)
    assert "are divided over the members; behind them they combine centrality" in told.reasons
    assert "take sources.taken of count" in told.passes["place-exchanges"]
    assert "exchange=combine" not in told.schedule  # a member runs an iteration as one device does


def test_in_a_divided_loop_the_schedules_of_one_device_are_legal():
    told = vg.explain(vg.algorithms.betweenness, small_graph(False), device=TWO, share=vg.ASYM, passes=False)
    (base,) = (v for v in told.legal["reach"]["exchange"] if v.value == vg.BASE)
    assert base.reason == "one device has nobody to exchange with"

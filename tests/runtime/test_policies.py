"""What policies decide, in simulated time."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

import numpy as np
import pytest

import vgraph as vg
from vgraph.sharing import AffinityStealing, ChunkAffinity, Outcome, Policy, Qilin, Work, Worker

ALL = [
    vg.NAIVE, vg.ASYM, vg.ASYM_CONV, vg.ASYM_SIZE, vg.SHARED_QUEUE, vg.SAMPLE_WEIGHTED, vg.ORACLE, vg.QILIN, vg.MIN_MIN,
    vg.GREEDY, vg.HASS, vg.CHUNK_AFFINITY, vg.AFFINITY_STEALING, AffinityStealing(1), AffinityStealing(3),
]  # fmt: skip
Cost = Callable[[int, range], float]


class Simulated:
    """A loop on members that take `cost(member, iterations)` seconds: who got what, and when all was over."""

    def __init__(
        self,
        policy: Policy,
        work: Work,
        workers: Sequence[Worker],
        cost: Cost,
        past: Sequence[Outcome] = (),
    ) -> None:
        self.division = policy.divide(work, workers, past)
        self.got: list[list[range]] = [[] for _ in workers]
        events, waiting, self.end = [(0.0, k) for k in range(len(workers))], [], 0.0
        while events:
            now, member = heapq.heappop(events)
            for k in (member, *waiting):
                piece = self.division.take(k, now)
                waiting = [w for w in waiting if w != k]
                if piece:
                    self.got[k].append(piece)
                    heapq.heappush(events, (now + cost(k, piece), k))
                elif piece is None:
                    waiting.append(k)
                self.end = max(self.end, now)
        assert not waiting, "somebody waits for ever"

    @property
    def done(self) -> list[int]:
        return [sum(map(len, pieces)) for pieces in self.got]

    @property
    def outcome(self) -> Outcome:
        return Outcome(tuple(self.division.done), tuple(self.division.busy), self.end)


def at(*speeds: float) -> Cost:
    return lambda member, piece: len(piece) / speeds[member]


def workers(count: int) -> list[Worker]:
    return [Worker(f"member {k}") for k in range(count)]


@pytest.mark.parametrize("policy", ALL, ids=repr)
def test_every_iteration_is_given_once(policy):
    rng = np.random.default_rng(0)
    past: list[Outcome] = []
    for count in (0, 1, 2, 3, 7, 40, 333):
        for members in (1, 2, 3):
            speeds = rng.uniform(0.2, 9, members)
            ran = Simulated(
                policy,
                Work(count, rng.integers(0, 9, count)),
                workers(members),
                at(*speeds),
                past * (members == 2),
            )
            given = sorted(i for pieces in ran.got for p in pieces for i in p)
            assert given == list(range(count))
            assert ran.outcome.done == tuple(ran.done)
            past += [ran.outcome] * (members == 2)


def test_a_fixed_ratio_is_kept():
    assert Simulated(vg.fixed_ratio(3, 1), Work(100), workers(2), at(1, 9)).done == [75, 25]
    with pytest.raises(vg.ParameterError, match="2 shares, and the set 3"):
        Simulated(vg.fixed_ratio(3, 1), Work(100), workers(3), at(1, 1, 1))


@pytest.mark.parametrize("parts", [(), (0, 0), (-1, 2), ("a",), (float("nan"), 1), (1e308, 1e308)])
def test_ratios_that_cannot_be(parts):
    with pytest.raises(vg.ParameterError, match="numbers of at least 0"):
        vg.fixed_ratio(*parts)


def test_naive_profiling_waits_for_the_slowest():
    ran = Simulated(vg.NAIVE, Work(100), workers(2), at(1, 4))
    assert ran.got == [[range(5), range(10, 28)], [range(5, 10), range(28, 100)]]
    assert ran.end == 5 + 18  # the fast one waited from 1.25 to 5


def test_asymmetric_profiling_waits_for_nobody():
    ran = Simulated(vg.ASYM, Work(100), workers(2), at(1, 4))
    # at 1.25 the second is back; the first has done one, and has its second
    assert ran.got[0] == [range(1), range(6, 7), range(7, 26)]
    assert ran.got[1] == [range(1, 6), range(26, 100)]
    assert ran.end < Simulated(vg.NAIVE, Work(100), workers(2), at(1, 4)).end


def early_slow(member: int, piece: range) -> float:
    """The first tenth takes the second member eight times as long."""
    return sum((8 if i < 60 and member else 1) for i in piece) / (1, 4)[member]


def test_repeated_profiles_see_what_the_first_does_not():
    once, twice, half = (
        Simulated(p, Work(600), workers(2), early_slow) for p in (vg.ASYM, vg.ASYM_CONV, vg.ASYM_SIZE)
    )
    assert once.end > 1.5 * half.end
    assert twice.end < once.end
    first = sum(len(p) == 30 for p in half.got[1])
    assert first >= 2, "profiles of 5 % until half is done"
    assert len(once.got[1]) == 2


def test_convergence_needs_two_profiles_that_agree():
    ran = Simulated(vg.ASYM_CONV, Work(1000), workers(2), at(1, 4))
    first, second, *rest = ran.got[1]
    assert len(first) == 50
    assert len(second) == 375  # half of 0.8 of the 937 that are left at 12.5
    assert len(rest) == 1


def test_a_shared_queue_gives_chunks_of_one_size():
    ran = Simulated(vg.SHARED_QUEUE, Work(100), workers(2), at(1, 4))
    assert {len(p) for pieces in ran.got for p in pieces} == {5}
    assert ran.done == [20, 80]
    greedy = Simulated(vg.GREEDY, Work(100), workers(2), at(1, 4))
    assert {len(p) for pieces in greedy.got for p in pieces} == {1}


def test_runs_weigh_by_their_samples():
    first = Outcome((10, 30), (10.0, 10.0), 10.0)  # 1 and 3 a second: 0.25
    second = Outcome((100, 20), (50.0, 10.0), 50.0)  # 2 and 2: 0.5, of 120 after 40
    ran = Simulated(vg.SAMPLE_WEIGHTED, Work(1000), workers(2), at(1, 1), [first, second])
    assert ran.done == [round(1000 * (0.75 * 0.5 + 0.25 * 0.25)), 1000 - 438]
    profiled = Simulated(vg.SAMPLE_WEIGHTED, Work(100), workers(2), at(1, 4))
    assert profiled.got == Simulated(vg.ASYM, Work(100), workers(2), at(1, 4)).got


def test_vertices_stay_where_they_are_until_it_is_worth_it():
    pair = workers(2)
    near, far = Outcome((50, 50), (10.0, 10.4), 10.4), Outcome((50, 50), (10.0, 20.0), 20.0)
    assert vg.SAMPLE_WEIGHTED.shares(pair, []) == (0.5, 0.5)
    assert vg.SAMPLE_WEIGHTED.shares(pair, [near, near]) == (0.5, 0.5)
    moved = vg.SAMPLE_WEIGHTED.shares(pair, [near, far])
    assert 0.5 < moved[0] < 2 / 3
    assert vg.SAMPLE_WEIGHTED.shares(pair, [near, far, near]) == moved


def test_the_oracle_repeats_the_best_of_eleven():
    past: list[Outcome] = []
    for k in range(13):
        ran = Simulated(vg.ORACLE, Work(100), workers(2), at(3, 7), past)
        assert ran.done[0] == (10 * k if k < 11 else 30)
        past.append(ran.outcome)


def test_qilin_learns_what_is_fixed():
    def cost(member: int, piece: range) -> float:
        return (len(piece) / 2, 40 + len(piece) / 8)[member]

    ran = Simulated(Qilin(0.3), Work(1200), workers(2), cost)
    one, two = ran.got[0][-1], ran.got[1][-1]
    assert abs(cost(0, one) - cost(1, two)) < 1
    worse = Simulated(Qilin(0.01), Work(1200), workers(2), cost)
    assert [len(p) for p in worse.got[0][:2]] == [2, 4]


def test_min_min_takes_small_tasks_first():
    arcs = np.array([9, 1, 5, 1, 3, 1])
    past = [Outcome((10, 20), (10.0, 10.0), 10.0)]
    ran = Simulated(vg.MIN_MIN, Work(6, arcs), workers(2), at(1, 2), past)
    assert [p.start for p in ran.got[1]] == [1, 5, 4, 2]
    assert [p.start for p in ran.got[0]] == [3, 0]


def test_hass_adapts_its_bundles_until_two_rounds_agree():
    ran = Simulated(vg.HASS, Work(800), workers(2), at(1, 3))
    ratios = ran.division.ratios
    assert len(ratios) <= 6
    assert abs(ratios[-1][0] - 0.25) < 0.02
    bundles = [len(p) for p in ran.got[1] if len(p) > 1]
    assert len(bundles) == 8
    assert max(len(p) for p in ran.got[0]) == 1

    def tired(member: int, piece: range) -> float:
        return len(piece) * (1 if member else 8 if piece.start > 300 else 1)

    stole = Simulated(vg.HASS, Work(800), workers(2), tired)
    assert any(len(p) == 1 for p in stole.got[1][1:]), "the second steals from the first's buffer"


def test_chunks_go_where_they_suit():
    arcs = np.repeat([3, 90, 4, 80], 8 * 16)
    past = [Outcome((10, 10), (10.0, 10.0), 10.0)]
    ran = Simulated(vg.CHUNK_AFFINITY, Work(len(arcs), arcs), workers(2), at(1, 1), past)
    few, many = (np.concatenate([arcs[list(p)] for p in pieces]) for pieces in ran.got)
    assert few.max() < many.min()
    assert few[0] == 3
    assert many[0] == 90
    even = np.tile([4, 4], 256)
    even[256:] = np.tile([0, 8], 128)
    ran = Simulated(ChunkAffinity("variance"), Work(512, even), workers(2), at(1, 1), past)
    assert sorted(i for p in ran.got[1] for i in p) == list(range(256))


def test_stealing_begins_at_home():
    kinds = [Worker("a", kind="x"), Worker("b", kind="y"), Worker("c", kind="x")]
    arcs = np.arange(480)
    for attempts, reached in ((1, {2}), (3, {2}), (0, {2, 1})):
        division = AffinityStealing(attempts).divide(Work(480, arcs), kinds, [])
        assert set(division.victims(0)) == reached
        assert next(iter(division.victims(0))) == 2
    slow = at(9, 1, 1)
    alone = Simulated(ChunkAffinity(), Work(480, arcs), kinds, slow)
    near = Simulated(AffinityStealing(3), Work(480, arcs), kinds, slow)
    everywhere = Simulated(AffinityStealing(), Work(480, arcs), kinds, slow)
    assert everywhere.end < near.end == alone.end  # the slow one of the other kind keeps its chunks
    assert near.done[0] > alone.done[0]
    last = [p for p in everywhere.got[0] if p in alone.got[1]]
    assert last[0] == alone.got[1][-1], "what suits its owner least is stolen first"


@pytest.mark.parametrize("policy", [vg.ASYM_SIZE, vg.ASYM, vg.HASS, vg.SHARED_QUEUE, vg.GREEDY], ids=repr)
@pytest.mark.parametrize("speeds", [(1, 1), (1, 4), (4, 1), (1, 2, 4)])
def test_policies_come_near_the_best(policy, speeds):
    ran = Simulated(policy, Work(1000), workers(len(speeds)), at(*speeds))
    assert 1000 / sum(speeds) / ran.end > 0.88

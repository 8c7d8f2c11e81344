"""Operators that write both ends of their edges, with what else a run may be asked for."""

from __future__ import annotations

import numpy as np
import pytest

import vgraph as vg


@vg.operator
def trade(src, edge, dst, graph):
    """What is read of the global is as it was when the round began, however many passes there are."""
    given = min(src.money, edge.price + graph.traded)
    src.money -= given
    dst.money += given
    graph.traded += given


@vg.algorithm
def market(graph, rounds: vg.int64):
    money = graph.vertex_property(vg.float64, fill=10)
    graph.traded = 0.0
    for _ in range(rounds):
        graph.edge_apply(trade)
    return money, graph.traded


@vg.algorithm
def twice(graph):
    first = market(graph, 1)
    total = first.traded
    return first.money, total


def graph(n: int = 300, m: int = 3000) -> vg.Graph:
    rng = np.random.default_rng(3)
    s, t = rng.integers(0, n, m), rng.integers(0, n, m)
    return vg.Graph.from_edges(s, t, num_vertices=n, multi_edges=True, price=rng.random(m))


LOCKS = [vg.EDGE_LOCKED, vg.NODE_LOCKED, vg.HYBRID]


@pytest.mark.parametrize("conflict", [*LOCKS, vg.SEQUENTIAL, vg.COLORED], ids=str)
def test_nothing_is_lost(conflict):
    schedule = vg.Schedule().at("trade", conflict=conflict)
    found = vg.run(market, graph(), rounds=3, threads=2, schedule=schedule)
    np.testing.assert_allclose(found.money.sum(), 3000)
    assert found.stats.rounds == 3
    assert (found.money >= 0).all()
    assert sum(found.stats.deferred.get("trade", ())) == found.stats.edges - 3 * graph().num_arcs
    assert ("trade" in found.stats.deferred) == (conflict in LOCKS)


def test_one_order_with_deterministic():
    ways = [
        {"threads": 1},
        {"threads": 2},
        {"threads": 2, "schedule": vg.Schedule().at("trade", conflict=vg.COLORED)},
    ]
    one, two, colored = (vg.run(market, graph(), rounds=2, deterministic=True, **given) for given in ways)
    assert one.money.tobytes() == two.money.tobytes()
    assert one.traded == two.traded
    assert one.schedule.labels["trade"].conflict == vg.SEQUENTIAL
    again = vg.run(market, graph(), rounds=2, deterministic=True, threads=1, schedule=ways[2]["schedule"])
    assert (again.money.tobytes(), again.traded) == (colored.money.tobytes(), colored.traded)


def test_a_checked_run():
    small = graph(12, 60)
    for conflict in (vg.EDGE_LOCKED, vg.AGM_E):
        schedule = vg.Schedule().at("trade", conflict=conflict)
        found = vg.run(market, small, rounds=2, checked=True, schedule=schedule)
        np.testing.assert_allclose(found.money.sum(), 120)


def test_in_an_algorithm_that_is_called():
    label = "market.trade"
    for conflict in (vg.DIAGONAL, vg.SEQUENTIAL):
        schedule = vg.Schedule().at(label, conflict=conflict)
        expected = vg.run(twice, graph(), device="python", schedule=schedule)
        found = vg.run(twice, graph(), threads=2, schedule=schedule)
        assert found.money.tobytes() == expected.money.tobytes()


def test_another_order_of_vertices():
    found = vg.run(market, graph(), rounds=2, relabel="degree", deterministic=True)
    plain = vg.run(market, graph(), rounds=2, deterministic=True)
    np.testing.assert_array_equal(found.money, plain.money)


def test_rounds_are_counted_once():
    found = vg.run(market, graph(), rounds=3, max_rounds=3)
    assert found.stats.rounds == 3
    with pytest.raises(vg.AlgorithmError):
        vg.run(market, graph(), rounds=4, max_rounds=3)


def test_explain_says_why_and_what_a_plan_took():
    schedule = vg.Schedule().at("trade", conflict=vg.AGM_E)
    given = graph()
    vg.prepare(market, given, rounds=1, schedule=schedule)
    explained = vg.explain(market, given, rounds=1, schedule=schedule, passes=False)
    assert "phases, d_max" in explained.layouts
    said = str(vg.explain(market, given, rounds=1, passes=False))
    assert (
        f"locks cost 22 ns for an arc; a plan has a barrier of 10000 ns for each of the {given.max_degree} arcs"
        in said
    )

"""`vg.random`: the same numbers on every device and schedule, and numbers that look random."""

# ruff: noqa: F821 (operators read parameters of their algorithm)
from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from draws import GRAPH, close_normals, draws, same_draws
from schedule_matrix import Case, program_of
from scipy.special import ndtri

import vgraph as vg
from vgraph import compiler
from vgraph.compiler import space
from vgraph.compiler.philox import philox4x32, tag
from vgraph.config import scope
from vgraph.runtime.devices import compiled

DEVICES: list[dict[str, Any]] = [
    {"device": "python"},
    {"threads": 1},
    {"threads": 2},
    {"checked": True},
]
KNOWN = (
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
)
"""Counter, key and result: `kat_vectors` of Random123, by the authors of the generator."""


def words(text: str) -> list[int]:
    """Numbers of 32 bits."""
    return [int(word, 16) for word in text.split()]


def wide(low: int, high: int) -> int:
    """A number of 64 bits of two of 32."""
    return low | high << 32


@vg.algorithm
def drawn(graph, low=0, high=0):
    """One number."""
    graph.number = vg.random(low, high)
    return graph.number


@pytest.mark.parametrize(("counter", "key", "result"), KNOWN)
def test_known_answers(counter: str, key: str, result: str) -> None:
    assert list(philox4x32(words(counter), words(key))) == words(result)
    a, b, c, d = words(counter)
    first, second, *_ = words(result)
    keys = np.array([wide(a, b), wide(c, d)], np.uint64).view(np.int64).tolist()
    seed = wide(*words(key)) ^ tag(2)
    for device in DEVICES:
        found = vg.run(drawn, GRAPH, low=keys[0], high=keys[1], seed=seed, **device).number
        assert found == (wide(first, second) >> 11) / 2**53


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
def test_devices_agree(seed: int) -> None:
    expected = vg.run(draws, GRAPH, seed=seed, device="python")
    for device in DEVICES[1:]:
        same_draws(vg.run(draws, GRAPH, seed=seed, **device), expected)


@pytest.mark.parametrize("how", DEVICES[1:], ids=str)
def test_normals_agree(how: dict[str, Any]) -> None:
    close_normals(**how)


@pytest.mark.parametrize("threads", [1, 2])
def test_schedules_agree(threads: int) -> None:
    expected = vg.run(draws, GRAPH, seed=7, device="python")
    asked = program_of(draws, Case("", GRAPH, {}, expected), threads)
    schedules = space.sample(*asked, 8, seed=threads)
    assert len(schedules) == 8
    for schedule in schedules:
        same_draws(vg.run(draws, GRAPH, seed=7, schedule=schedule, threads=threads), expected)


def test_the_seed_of_a_run() -> None:
    """0 by default; another one gives other numbers, and compiles nothing."""
    first = vg.run(draws, GRAPH)
    same_draws(vg.run(draws, GRAPH, seed=np.uint8(0), max_rounds=100), first)
    others = [vg.run(draws, GRAPH, seed=seed) for seed in (1, 2**32, 2**63)]
    for other in others:
        assert (other.alone != first.alone).all()
        assert (other.many != first.many).all()
    assert len({float(r.one) for r in (first, *others)}) == 4


def test_a_seed_is_no_part_of_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled._loaded.clear()
    with scope(no_cache=True, opt=0):
        vg.run(draws, GRAPH, seed=1)
        monkeypatch.setattr(compiler, "build", lambda *_, **__: pytest.fail("compiled again"))
        vg.run(draws, GRAPH, seed=2)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "7", True])
def test_seeds_out_of_range(seed: Any) -> None:
    with pytest.raises(vg.ParameterError, match=r"seed=.*: an int from 0 to 2\*\*64 - 1"):
        vg.run(draws, GRAPH, seed=seed)
    with pytest.raises(vg.ParameterError, match=r"seed=.*: an int from 0 to 2\*\*64 - 1"):
        vg.autotune(draws, GRAPH, seed=seed)


@vg.algorithm
def with_its_own(graph, seed=5):
    """A parameter of the same name."""
    graph.twice = 2 * seed
    return graph.twice


def test_an_algorithm_with_a_seed_of_its_own() -> None:
    assert vg.run(with_its_own, GRAPH).twice == 10
    assert vg.run(with_its_own, GRAPH, seed=-4).twice == -8


def test_a_program_that_draws_for_vertices_knows_their_numbers() -> None:
    with pytest.raises(vg.ScheduleError, match="the number of a vertex is used as a value"):
        vg.run(draws, GRAPH, relabel="degree")


def test_drawing_outside_of_a_run() -> None:
    with pytest.raises(vg.VGraphError, match="call it in an operator"):
        vg.random(3)
    with pytest.raises(vg.VGraphError, match="call it in an operator"):
        vg.random_below(3, 4)
    with pytest.raises(vg.VGraphError, match="call it in an operator"):
        vg.random_normal(3)
    with pytest.raises(vg.VGraphError, match="call it in an operator"):
        vg.random_choice([1], 3)


# --- how random they are --------------------------------------------------------------------------------------


@vg.operator
def sample(v):
    """Draws that differ in one key, or in how many there are."""
    v.a = vg.random(v)
    v.b = vg.random(v, 0)
    v.c = vg.random(v, 1)
    v.d = vg.random(v, 0, 0)
    v.e = vg.random(-1, v)
    v.f = vg.random(-1, 0, v)
    v.g = vg.random(v.id + 1 << 40)
    v.die = vg.random_below(6, v)
    v.large = vg.random_below(1 << 53, v)
    v.normal = vg.random_normal(v)
    v.sort = vg.random_choice(sums, v)


@vg.algorithm
def samples(graph, sums: vg.array(vg.float64)):
    """Columns of draws."""
    a = graph.vertex_property(vg.float64)
    b = graph.vertex_property(vg.float64)
    c = graph.vertex_property(vg.float64)
    d = graph.vertex_property(vg.float64)
    e = graph.vertex_property(vg.float64)
    f = graph.vertex_property(vg.float64)
    g = graph.vertex_property(vg.float64)
    die = graph.vertex_property(vg.int64)
    large = graph.vertex_property(vg.int64)
    normal = graph.vertex_property(vg.float64)
    sort = graph.vertex_property(vg.int64)
    graph.vertex_apply(sample)
    return a, b, c, d, e, f, g, die, large, normal, sort


def test_draws_look_random() -> None:
    n = 100_000
    weights = np.array([0, 1, 0, 5, 2, 0]) / 8
    found = vg.run(samples, vg.Graph.from_edges([], [], num_vertices=n), sums=np.cumsum(weights))
    columns = np.array([getattr(found, name) for name in "abcdefg"])
    assert columns.min() >= 0
    assert columns.max() < 1
    assert len(np.unique(columns)) == columns.size  # 53 bits: no two of 700,000 are likely to be equal
    np.testing.assert_allclose(columns.mean(axis=1), 0.5, atol=5 * np.sqrt(1 / 12 / n))
    for column in columns:
        counts = np.bincount((column * 256).astype(int), minlength=256)
        chi = ((counts - n / 256) ** 2 / (n / 256)).sum()
        assert 160 < chi < 370  # 255 degrees of freedom: 255 +- 5 * sqrt(510)
        after = np.corrcoef(column[:-1], column[1:])[0, 1]
        assert abs(after) < 5 / np.sqrt(n)
    apart = np.corrcoef(columns)[np.triu_indices(len(columns), 1)]
    assert np.abs(apart).max() < 5 / np.sqrt(n)
    assert np.abs(np.bincount(found.die, minlength=6) - n / 6).max() < 5 * np.sqrt(n * 5 / 36)
    assert (found.large == found.a * 2**53).all()
    np.testing.assert_allclose(found.normal, ndtri((np.floor(found.a * 2**52) + 0.5) / 2**52), rtol=1e-14)
    assert np.abs(np.bincount(found.sort, minlength=6) - n * weights).max() < 5 * np.sqrt(n / 4)
    assert (found.sort == np.searchsorted(np.cumsum(weights), found.a, side="right")).all()


@vg.algorithm
def chosen(graph, sums: vg.array(vg.float64)):
    graph.k = vg.random_choice(sums, 1)
    return graph.k


@pytest.mark.parametrize("sums", [[], [0.0, 0.0], [math.nan]])
def test_nothing_to_choose_from(sums: list[float]) -> None:
    for device in DEVICES:
        if sums or "checked" not in device:
            assert vg.run(chosen, GRAPH, sums=sums, **device).k == len(sums)


@pytest.mark.parametrize("name", ["maximal_independent_set", "maximal_matching", "weighted_matching"])
def test_algorithms_that_draw_lots_take_the_seed(name: str) -> None:
    u, v = np.random.default_rng(1).integers(0, 50, (2, 200))
    graph = vg.Graph.from_edges(u, v, directed=False, weight=np.ones(200))
    algorithm = getattr(vg.algorithms, name)
    first, again, other = (
        vg.run(algorithm, graph, seed=seed, device=device)
        for seed, device in ((1, "cpu"), (1, "python"), (2, "cpu"))
    )
    (result,) = first.names
    assert np.array_equal(getattr(first, result), getattr(again, result))
    assert not np.array_equal(getattr(first, result), getattr(other, result))

"""How many segments are chosen: from the number of vertices, their arcs, and the size of the last-level cache."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.axes.segments import gathered_bytes
from vgraph.compiler.backends import jit
from vgraph.compiler.facts import Facts
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.text import parse_program
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.passes.choose_schedule import choose_schedule
from vgraph.runtime import caches, policy
from vgraph.schedule.record import show

MB = 1 << 20
SUM = """\
program sum: algorithm, ids 32, offsets 32
vertex total: {t} local
vertex x: {t} local
vertex y: {t} local
operator add(src, edge, dst) {{
  total[dst] += {value}
}}
run {{
  edge_apply(add)
}}
return total
"""


@pytest.mark.parametrize(
    ("vertices", "degree", "cache", "segments"),
    [
        (0, 0, 32 * MB, 1),
        (1000, 30, 32 * MB, 1),
        (2 * MB, 30, 32 * MB, 1),  # 8 MB: a quarter of the cache
        (2 * MB + 1, 30, 32 * MB, 2),
        (4 * MB, 30, 32 * MB, 2),
        (6 * MB, 30, 32 * MB, 4),
        (4 * MB, 30, 8 * MB, 8),
        (4 * MB, 7, 8 * MB, 1),  # a road network
    ],
)
def test_segments_of_a_graph(vertices: int, degree: int, cache: int, segments: int) -> None:
    assert policy.cache_segments(vertices, degree * vertices, cache) == segments


def chosen(facts: Facts, t: str = "f32", value: str = "x[src]") -> int:
    program = parse_program(SUM.format(t=t, value=value))
    done = PassManager(Context(facts=facts)).run(program, (choose_schedule,))
    (apply,) = (n for n in walk(done) if isinstance(n, ir.EdgeApply))
    assert apply.schedule is not None
    return apply.schedule.segments


def test_the_bytes_that_an_operator_gathers_count() -> None:
    assert chosen(Facts()) == 1
    assert chosen(Facts(segments=2)) == 2
    assert chosen(Facts(segments=2), "f64") == 4
    assert chosen(Facts(segments=2), "f64", "(x[src] * y[src])") == 8
    assert chosen(Facts(segments=2), "f64", "(x[src] * x[src])") == 4
    assert chosen(Facts(segments=2), "f64", "(x[src] * y[dst])") == 4
    assert chosen(Facts(segments=64), "f64") == 64
    program = parse_program(SUM.format(t="f64", value="(x[src] * y[src])"))
    assert gathered_bytes(program.operator("add")) == 16


def test_segments_that_are_chosen_give_the_same_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = vg.read(vg.data.path("karate"), directed=False)
    plain = vg.run(vg.algorithms.pagerank, graph)
    assert plain.schedule.labels["gather"].segments == 1
    monkeypatch.setattr(policy.caches, "last_level", lambda: 4 * graph.num_vertices)
    monkeypatch.setattr(policy, "SEGMENT_DEGREE", 1)
    for threads in (1, 2):
        cut = vg.run(vg.algorithms.pagerank, graph, threads=threads)
        assert cut.schedule.labels["gather"].segments == 8
        assert abs(cut.rank - plain.rank).max() < 1e-12


def test_slices_are_chosen_when_they_would_have_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many pulls, or at once where a graph is prepared; not where rows are short, nor for one order."""
    monkeypatch.setattr(policy, "SLICED", 1)
    monkeypatch.setattr(jit, "wide_gathers", lambda: True)

    def gathered(graph: vg.Graph, **more: object) -> tuple[str, np.ndarray]:
        found = vg.run(vg.algorithms.pagerank, graph, max_rounds=25, tolerance=0.0, **more)
        return show(found.schedule.labels["gather"].rows), found.rank

    graph, alike = (vg.read(vg.data.path("karate"), directed=False) for _ in range(2))
    (first, plain), (second, _), (third, ranks) = (gathered(graph) for _ in range(3))
    assert [first, second, third] == ["csr", "csr", "slices"]
    assert policy.uses(graph).pulls == 75
    np.testing.assert_allclose(ranks, plain, rtol=1e-12)
    assert gathered(graph, deterministic=True)[0] == "csr"
    assert "rows=slices: many pulls" in str(vg.explain(vg.algorithms.pagerank, graph))
    (made,) = vg.prepare(vg.algorithms.pagerank, alike)
    assert made.name == "sell.2"
    assert gathered(alike)[0] == "slices"
    directed = vg.Graph.from_edges(*np.random.default_rng(1).integers(0, 20, (2, 200)))
    vg.prepare(vg.algorithms.bfs, directed, source=0)
    assert not directed.has_transpose  # which a push does not need
    assert [x.name for x in vg.prepare(vg.algorithms.pagerank, directed)] == ["sell.2"]
    assert gathered(directed)[0] == "slices"
    far = vg.Graph.from_edges(np.arange(40), np.arange(40)[::-1])
    vg.prepare(vg.algorithms.pagerank, far)
    assert gathered(far)[0] == "csr"
    monkeypatch.setattr(jit, "wide_gathers", lambda: False)
    assert gathered(alike)[0] == "csr"


def test_the_highest_level_of_cache_counts(tmp_path: Path) -> None:
    assert caches.largest(tmp_path) == 0
    for index, (level, size) in enumerate([("1", "48K"), ("3", "32768K"), ("2", "1M"), ("x", "9G")]):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        (folder / "level").write_text(level + "\n")
        (folder / "size").write_text(size + "\n")
    assert caches.largest(tmp_path) == 32 * MB
    assert caches.last_level() > 0

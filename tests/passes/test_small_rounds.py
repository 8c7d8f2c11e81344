"""Rounds of few vertices are one thread's: which loops are changed, and that results stay the same."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import vgraph as vg
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir import Alone, Level
from vgraph.compiler.passes.small_rounds_alone import small_rounds_alone
from vgraph.compiler.rewrite import Context, walk
from vgraph.compiler.text_parser import parse as parse_text
from vgraph.compiler.verify import VerifyError, verify
from vgraph.runtime import policy

HEAD = """program p: kernel, ids 32, offsets 32
vertex x: i32 local
frontier f sparse
frontier f.next sparse
run {
  f = single(0:vid)
"""
TAIL = """
}
return x
"""
ROUND = """
  while (size(f) > 0:i64) {{
    parfor v in sparse f {{ {visit} }}
    single {{
      swap f f.next
      clear f.next sparse
    }}
    {more}
  }}
"""


def parse(text, name="p"):
    return parse_text(text.replace("{ ", "{\n").replace(" }", "\n}"), name)


def kernel(visit, more=""):
    program = parse(HEAD + ROUND.format(visit=visit, more=more) + TAIL)
    verify(program, Level.KERNEL)
    return program


def changed(program, threads=2):
    found = small_rounds_alone.run(program, Context(threads=threads))
    verify(found, Level.KERNEL)
    return any(isinstance(n, Alone) for n in walk(found))


WALK = """
for (u, e) in out(v) {
  let hit: bool = false
  atomic x[u] max= (x[v] + 1:i32) -> hit
}
"""


def test_a_loop_that_walks_arcs_of_its_frontier_is_changed():
    assert changed(kernel(WALK))


def test_one_thread_is_alone_anyway():
    assert not changed(kernel(WALK), threads=1)


@pytest.mark.parametrize(
    "more",
    [
        "parfor w in vertices { x[w] = 0:i32 }",
        "break",
        "parfor w in sparse f { for (u, e) in out(w) { x[w] = 0:i32 } }\nif (x[0:vid] > 3:i32) { break }",
    ],
)
def test_a_loop_whose_rounds_may_be_large_or_that_is_left_is_not(more):
    assert not changed(kernel(WALK, more))


def test_one_thread_does_not_do_what_has_a_part_for_each():
    text = HEAD.replace("run {", "buckets b(v): 0:i64\nrun {") + "alone { clear b buckets }" + TAIL
    with pytest.raises(VerifyError, match="no part of others"):
        verify(parse(text), Level.KERNEL)


@pytest.mark.parametrize("limit", [0, 1, 7, 1 << 40])
@pytest.mark.parametrize("threads", [2, 3])
def test_results_do_not_depend_on_the_limit(monkeypatch, threads, limit):
    usual = policy.number
    monkeypatch.setattr(
        policy, "number", lambda n, g, d="cpu": limit if n == "policy.alone" else usual(n, g, d)
    )
    rng = np.random.default_rng(limit % 97)
    ends = rng.integers(0, 300, 900), (300 * rng.random(900) ** 3).astype(int)
    plain = nx.Graph((a, b) for a, b in zip(*(e.tolist() for e in ends), strict=True) if a != b)
    plain.add_nodes_from(range(300))
    arcs = np.array(list(plain.edges()))
    graph = vg.Graph.from_edges(*arcs.T, num_vertices=300, directed=False)
    numbers = nx.core_number(plain)
    core = vg.run(vg.algorithms.k_core, graph, threads=threads)
    assert core.core.tolist() == [numbers[v] for v in range(300)]
    directed = vg.Graph.from_edges(*ends, num_vertices=300, directed=True)
    component = vg.run(vg.algorithms.strongly_connected_components, directed, threads=threads).component
    expected = vg.run(vg.algorithms.strongly_connected_components, directed, threads=1).component
    np.testing.assert_array_equal(component, expected)
    distance = vg.run(vg.algorithms.bfs, graph, source=int(arcs[0, 0]), threads=threads).level
    lengths = nx.single_source_shortest_path_length(plain, int(arcs[0, 0]))
    assert distance.tolist() == [lengths.get(v, -1) for v in range(300)]


def test_the_interpreter_runs_the_body():
    text = HEAD + "alone { parfor v in sparse f { x[v] = 5:i32 } }" + TAIL
    graph = vg.Graph.from_edges([0], [1], num_vertices=2)
    assert interpret(parse(text), graph, {}, seed=1, threads=2)["x"][0] == 5

"""Loops over common neighbors: marked lists and copies for threads give the algorithm level's answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_lowering import fitted, graphs, lowered, native, same

from vgraph.compiler.facts import Facts
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir import Fold, ForCommon, Reduce, Site, Store
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.rewrite import Context, PassManager, walk
from vgraph.graph import Graph
from vgraph.schedule import Schedule

HEAD = """\
program common: algorithm, ids 32, offsets 32
vertex count: i64 local
vertex low: i32 local
global @total: i64
operator visit(u) {
"""
TAIL = """\
}
run {
  fill count = 0:i64
  fill low = 1000:i32
  vertex_apply(visit)
  vertex_apply(visit)
}
return count
return low
return total = scalar @total
"""
BODIES = {
    "sums": """
  for (v, e) in in(u) {
    let shared: i64 = 0:i64
    for w in common(out(u), out(v)) {
      if (w >= u) {
        break
      }
      shared += 2:i64
      count[w] += 1:i64
    }
    count[v] += shared
    @total += shared
  }
""",
    "no guard, right list": """
  for (v, e) in out(u) {
    for w in common(in(v), out(u)) {
      count[w] += 1:i64
    }
  }
""",
    "more than sums": """
  for (v, e) in out(u) {
    for w in common(out(u), out(v)) {
      if (v < w) {
        continue
      }
      count[w] += cast<i64>(v)
      low[v] min= cast<i32>(w)
    }
  }
""",
    "on to the next behind a sum": """
  for (v, e) in out(u) {
    for w in common(out(u), out(v)) {
      count[w] += 1:i64
      if (v < w) {
        continue
      }
      low[v] min= cast<i32>(w)
    }
  }
""",
    "one loop in another": """
  for (v, e) in out(u) {
    for (x, e2) in out(u) {
      for w in common(out(u), out(x)) {
        count[w] += 1:i64
      }
    }
    for w2 in common(out(u), out(v)) {
      count[w2] += 5:i64
    }
  }
""",
    "both lists of u": """
  for (v, e) in out(u) {
    for w in common(out(u), out(v)) {
      count[w] += 1:i64
    }
    for w2 in common(in(u), out(v)) {
      count[w2] += 5:i64
    }
  }
""",
    "not in a loop": """
  for w in common(out(u), in(u)) {
    count[w] += 1:i64
  }
""",
}


def program(name: str, graph: Graph):
    return fitted(HEAD + BODIES[name] + TAIL, graph)


@pytest.mark.parametrize("name", BODIES)
@given(graph=graphs(), seed=st.integers(0, 99), threads=st.sampled_from((1, 2, 3)))
@settings(max_examples=60, deadline=None)
def test_kernels_give_the_answer_of_the_program(name, graph, seed, threads):
    source = program(name, graph)
    kernel = lowered(source, Schedule(), 1 if threads == 1 else 0)
    same(interpret(kernel, graph, {}, seed=seed, threads=threads), interpret(source, graph, {}))


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("name", BODIES)
def test_machine_code_gives_the_answer_of_the_program(name, threads):
    rng = np.random.default_rng(threads)
    n, m = 120, 1500
    ends = rng.integers(0, n, m), rng.integers(0, n, m)
    graph = Graph.from_edges(*ends, num_vertices=n, directed=threads != 2)
    source = program(name, graph)
    same(native(lowered(source, Schedule(), threads), graph, threads), interpret(source, graph, {}))


def test_one_list_of_the_loops_vertex_is_marked():
    graph = Graph.from_edges([0], [1])
    for name in BODIES:
        kernel = lowered(program(name, graph), Schedule(), 0)
        merged = any(isinstance(n, ForCommon) for n in walk(kernel))
        assert merged == (name in ("both lists of u", "not in a loop"))


def test_copies_are_written_without_atomics_and_folded():
    graph = Graph.from_edges([0], [1])
    kernel = lowered(program("sums", graph), Schedule(), 0)
    copies = {p.name for p in kernel.properties if p.site is Site.THREAD}
    writes = [n for n in walk(kernel) if isinstance(n, Reduce | Store) and n.prop in copies]
    assert writes
    assert not any(isinstance(n, Reduce) and n.atomic for n in writes)
    assert sum(isinstance(n, Fold) for n in walk(kernel)) == 2  # one for each apply
    short = Context(facts=Facts(short_lists=True))
    plain = PassManager(short).run(program("sums", graph), PIPELINE)
    assert not any(p.site is Site.THREAD for p in plain.properties)
    alone = lowered(program("sums", graph), Schedule(), 1)
    assert not any(isinstance(n, Fold) for n in walk(alone))

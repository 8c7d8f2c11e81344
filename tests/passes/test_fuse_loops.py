"""`fuse-loops`: loops over all vertices are one where neither can tell, and two where one can."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_lowering import fitted, graphs, same

import vgraph as vg
from vgraph.compiler import ir
from vgraph.compiler.abilities import CPU, CUDA
from vgraph.compiler.facts import Facts
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.text import parse_program, print_program
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.passes.fuse_loops import fuse_loops
from vgraph.runtime import policy

HEAD = """program test: kernel, ids 32, offsets 32
vertex rank: i64 local
vertex part: i64 local
vertex incoming: i64 local
global @moved: i64
global @base: i64
run {
  parfor v in vertices {
    rank[v] = cast<i64>(v)
  }
  parfor v.1 in vertices {
    part[v.1] = (cast<i64>(v.1) + 1:i64)
  }
  parfor v.2 in vertices {
    incoming[v.2] = 0:i64
  }
  @base = 1:i64
  for i in range(0:i64, 3:i64, 1:i64) {
"""
GATHER = """    parfor dst in vertices words as gather {
      let acc: i64 = incoming[dst]
      for (src, e) in in(dst) {
        acc += part[src]
      }
      incoming[dst] = acc
    }
"""
CUT = GATHER.replace("words", "cut in").replace("= incoming[dst]", "= 0:i64").replace("] = acc", "] += acc")
UPDATE = """    parfor u in vertices words as update {
      let new: i64 = (incoming[u] + @base)
      @moved += (new - rank[u])
      rank[u] = new
      incoming[u] = 0:i64
      if (degree.out(u) > 0:i64) {
        part[u] = ((new % 1000:i64) + degree.out(u))
      }
    }
"""
TAIL = """  }
}
return rank
return moved = scalar @moved
"""


@vg.operator
def twice(v):
    v.y = v.y * 2


@vg.algorithm
def doubled_and_summed(graph):
    y = graph.vertex_property(vg.int64)
    y = 3
    graph.vertex_apply(twice)
    total = graph.sum(y + 1)
    return y, total


def program(*loops: str, result: str = "") -> str:
    """Three rounds of these loops."""
    return HEAD + "".join(loops) + TAIL + result


def fused(text: str, **facts: bool) -> ir.Program:
    context = Context(abilities=CUDA, facts=Facts(**{"short_lists": True, **facts}))
    return PassManager(context).run(parse_program(text), (fuse_loops,))


def loops_in(found: ir.Program) -> int:
    """Loops in a round."""
    (driver,) = (s for s in found.body if isinstance(s, ir.For))
    return sum(isinstance(s, ir.ParFor) for s in driver.body)


def plain(property: str, value: str, guard: str = "") -> str:
    """A loop that writes a property at its vertex."""
    stored = f"{property}[w] = {value}"
    return (
        "    parfor w in vertices {\n      "
        + (f"if {guard} {{\n{stored}\n}}" if guard else stored)
        + "\n    }\n"
    )


ONE = {
    "a property read at others": program(GATHER, UPDATE),
    "numbers between them": program(GATHER, "    @base = 5:i64\n    trace gather pull 1:i64, 1:i64\n", UPDATE),
    "conditions": program(plain("rank", "(rank[w] + 2:i64)", "(rank[w] > 2:i64)"), plain("part", "(rank[w] * 3:i64)")),
    "a constant that is read": program(plain("part", "incoming[w]"), plain("incoming", "0:i64")),
    "a property made of its own value": program(plain("rank", "(rank[w] + 1:i64)"), plain("part", "(rank[w] * 2:i64)")),
    "a property that is written before it is read": program(plain("rank", "5:i64"), plain("part", "(rank[w] * 2:i64)")),
    "two constants": program(plain("part", "incoming[w]"), plain("incoming", "7:i64")),
    "a result that is left constant": program(GATHER, UPDATE, result="return incoming\n"),
}  # fmt: skip
APART = {
    "the second reads at others what the first writes": program(plain("part", "(part[w] + 1:i64)"), GATHER),
    "the second writes a result that the first reads at others": program(GATHER, UPDATE, result="return part\n"),
    "a sum that is complete between them": program(UPDATE, "    @base = @moved\n", GATHER),
    "a sum that the second reads": program(UPDATE, plain("part", "@moved")),
    "a number that the first reads": program(UPDATE, "    @base = 5:i64\n", plain("part", "(part[w] + @base)")),
    "an element": program(plain("rank", "(rank[w] + 1:i64)"), "    @base = rank[0:vid]\n", plain("part", "@base")),
    "pieces": program(CUT, UPDATE),
}  # fmt: skip


@pytest.mark.parametrize("name", [*ONE, *APART])
@given(graph=graphs(), seed=st.integers(0, 99))
@settings(max_examples=12)
def test_the_answer_stays(name, graph, seed):
    before = fitted({**ONE, **APART}[name], graph)
    after = PassManager(Context(abilities=CUDA, facts=Facts(directed=graph.directed, deep=True))).run(
        before, (fuse_loops,)
    )
    assert loops_in(after) == (1 if name in ONE else 2)
    if name != "pieces":  # which insert-atomics has not seen
        same(interpret(after, graph, {}, seed=seed, threads=3), interpret(before, graph, {}))


def test_one_loop_with_two_arrays_in_turn():
    text = print_program(fused(ONE["a property read at others"]))
    assert "exchange part part.next" in text
    assert "part.next[dst] = dst.part" in text
    assert text.count("parfor") == 2  # one for all fills


def test_what_is_always_the_same_is_no_memory():
    constant, read, changing, returned = (
        {p.name for p in fused(ONE[name]).properties}
        for name in (
            "a property read at others",
            "a constant that is read",
            "two constants",
            "a result that is left constant",
        )
    )
    assert "incoming" not in constant | read
    assert "incoming" in changing & returned


def test_degrees_are_asked_for_where_an_undirected_graph_is_walked():
    for directed in (False, True):
        sides = {
            n.orientation
            for n in walk(fused(ONE["a property read at others"], directed=directed))
            if isinstance(n, ir.Degree)
        }
        assert sides == {ir.Orientation.OUT if directed else ir.Orientation.IN}


def test_loops_over_arcs_stay_apart_where_rows_may_be_long():
    assert loops_in(fused(ONE["a property read at others"], short_lists=False)) == 2
    assert loops_in(fused(ONE["two constants"], short_lists=False)) == 1


def test_on_a_cpu_nothing_gets_a_second_array():
    for name, text in ONE.items():
        made = fuse_loops.run(parse_program(text), Context(abilities=CPU))
        needs = any(isinstance(n, ir.Exchange) for s in fused(text).body for n in walk(s))
        assert not any(isinstance(n, ir.Exchange) for s in made.body for n in walk(s))
        assert loops_in(made) == (2 if needs else 1), name


def test_statements_of_whole_properties_are_one_loop_with_operators_on_every_device():
    graph = vg.Graph.from_edges([0, 1, 2], [1, 2, 0])
    for device in ("cpu", "cuda"):
        text = str(vg.explain(doubled_and_summed, graph, device=device))
        kernel = text.partition("== IR after fuse-loops")[2].partition("== IR after spread")[0]
        assert kernel.count("parfor") == 1, kernel


def test_the_library_has_one_loop_a_round(monkeypatch):
    monkeypatch.setattr(policy, "LARGE", 100)
    rng = np.random.default_rng(3)
    graph = vg.Graph.from_edges(rng.integers(0, 90, 300), rng.integers(0, 90, 300), num_vertices=95)
    text = str(vg.explain(vg.algorithms.pagerank, graph, device="cuda"))
    assert text.partition("rounds_ < max_rounds")[2].count("team.meet") == 1

"""Loops over common neighbors: marked lists and copies for threads give the algorithm level's answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_lowering import fitted, graphs, lowered, native, same

from vgraph.compiler import ir
from vgraph.compiler.abilities import CUDA
from vgraph.compiler.backends.llvm import hub_counts
from vgraph.compiler.facts import Facts
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.ir.text import parse_program, print_program
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.passes import PIPELINE
from vgraph.compiler.passes.mark_common import mark_common
from vgraph.compiler.passes.own_copies import own_copies
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

BODIES["counts"] = """
  for (v, e) in out(u) {
    let shared: i64 = 0:i64
    for w in common(out(u), out(v)) {
      shared += 2:i64
      @total += 3:i64
      count[v] += 1:i64
    }
    count[v] += shared
  }
"""

ASKED = {
    "asked for what others lead to": """
  for (v, e) in out(u) {
    for (w, e2) in out(v) {
      if adjacent.out(u, w) {
        count[w] += 1:i64
        break
      }
    }
  }
""",
    "asked for the loop's own vertices": """
  for (v, e) in in(u) {
    if not(adjacent.out(u, v)) {
      count[v] += 1:i64
    }
  }
""",
    "asked and in common": """
  for (v, e) in out(u) {
    for w in common(out(u), out(v)) {
      count[w] += 1:i64
    }
    for (w2, e2) in in(v) {
      if (adjacent.out(u, w2) and not(adjacent.in(v, w2))) {
        count[w2] += 5:i64
      }
    }
  }
""",
}


def program(name: str, graph: Graph):
    return fitted(HEAD + {**BODIES, **ASKED}[name] + TAIL, graph)


@pytest.mark.parametrize("name", BODIES)
@given(graph=graphs(), seed=st.integers(0, 99), threads=st.sampled_from((1, 2, 3)))
@settings(max_examples=10)
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


@pytest.mark.parametrize("hubs", [4])
@pytest.mark.parametrize("name", sorted({*BODIES} - {"both lists of u", "more than sums"}))
@given(graph=graphs(), seed=st.integers(0, 99), threads=st.sampled_from((1, 3)))
@settings(max_examples=3)
def test_hubs_first_gives_the_answer_of_the_program(name, hubs, graph, seed, threads):
    source = program(name, graph)
    kernel = lowered(source, Schedule().at("visit", hubs=hubs), 1 if threads == 1 else 0)
    assert any(isinstance(n, ir.MarkHubs) for n in walk(kernel))
    same(interpret(kernel, graph, {}, seed=seed, threads=threads), interpret(source, graph, {}))


@pytest.mark.parametrize(
    ("name", "hubs"),
    [
        ("sums", 70),
        ("counts", 600),
        ("counts", 4),
        ("more than sums", 600),
        ("not in a loop", 70),
        ("one loop in another", 70),
    ],
)
def test_machine_code_by_hubs_gives_the_answer_of_the_program(name, hubs):
    """70 hubs: more than a word of a bitmap. The vertex of the highest number has the most arcs, or the first has."""
    rng = np.random.default_rng(hubs)
    n, m = 700, 3000
    skewed = (rng.random((2, m)) ** 3 * n).astype(int)
    dense = rng.integers(0, 40, (2, 600))
    ends = np.hstack([skewed, dense])
    graph = Graph.from_edges(*(ends if hubs == 4 else n - 1 - ends), num_vertices=n, directed=hubs != 70)
    source = program(name, graph)
    kernel = lowered(source, Schedule().at("visit", hubs=hubs), 2)
    same(native(kernel, graph, 2), native(lowered(source, Schedule(), 2), graph, 2))


@pytest.mark.parametrize("threads", [1, 2])
def test_counters_of_hubs_are_spilled_before_they_overflow(threads):
    """Every vertex leads to all, so that each bitmap adds to each hub: more often than planes or sums can hold."""
    n = 260
    assert n * n > hub_counts.MOST
    graph = Graph.from_edges(*np.indices((n, n)).reshape(2, -1), num_vertices=n)
    source = program("no guard, right list", graph)
    kernel = lowered(source, Schedule().at("visit", hubs=n), threads)
    assert any(isinstance(n, ir.ForMarkedHubs) and n.late for n in walk(kernel))
    found = native(kernel, graph, threads)
    assert (found["count"] == 2 * n * n).all()


def test_what_is_only_counted_needs_no_loop_over_hubs():
    """`count[w]` asks for the vertex, `shared` does not; behind a `continue` nothing is counted at once."""
    graph = Graph.from_edges([0], [1])
    for name, (counted, visited) in {
        "not in a loop": (0, 1),
        "no guard, right list": (0, 1),
        "sums": (0, 1),
        "counts": (1, 0),
        "on to the next behind a sum": (0, 1),
    }.items():
        source = fitted(HEAD + BODIES[name] + TAIL, graph)
        nodes = [n for s in lowered(source, Schedule().at("visit", hubs=8), 1).body for n in walk(s)]
        found = [sum(isinstance(n, kind) for n in nodes) // 2 for kind in (ir.MarkedHubs, ir.ForMarkedHubs)]
        assert found == [counted, visited], name


def test_one_list_of_the_loops_vertex_is_marked():
    graph = Graph.from_edges([0], [1])
    for name in BODIES:
        kernel = lowered(program(name, graph), Schedule(), 0)
        merged = any(isinstance(n, ir.ForCommon) for n in walk(kernel))
        assert merged == (name in ("both lists of u", "not in a loop"))


HUBS = [*range(1, 40), 0, 0, 50], [*[0] * 39, 1, 2, 0]
"""One vertex with many in-arcs and few out-arcs, so that of its lists one is many times as long as the other."""
DENSE = np.random.default_rng(0).integers(0, 20, (2, 60))


@pytest.mark.parametrize("ends", [HUBS, HUBS[::-1], DENSE], ids=["in", "out", "dense"])
@pytest.mark.parametrize("name", ASKED)
def test_a_list_is_marked_where_it_is_asked_often(name, ends):
    """The answer is that of bisection, where it is marked and where that would not pay."""
    graph = Graph.from_edges(*ends, num_vertices=51)
    source = program(name, graph)
    kernel = lowered(source, Schedule(), 0)
    assert any(p.name == "mark" for p in kernel.properties)
    want = interpret(source, graph, {})
    assert want["count"].any() or ends is not DENSE
    same(interpret(kernel, graph, {}, seed=1, threads=3), want)
    same(native(kernel, graph, 2), want)


@pytest.mark.parametrize(
    ("asks", "marked"),
    [
        ("adjacent.out(u, v)", True),
        ("adjacent.out(v, u)", False),  # another list each time
        ("adjacent.out(u, x)", False),  # who may be none
        ("(adjacent.out(u, v) and adjacent.in(u, v))", True),  # the one that is asked each time
        ("(adjacent.out(u, v) == adjacent.in(u, v))", False),  # there is one mark
        ("((x == v) and adjacent.out(u, v))", False),  # perhaps rarely
    ],
)
def test_what_is_asked_of_one_list_of_the_loop_s_vertex(asks, marked):
    kernel = KERNEL.replace("fresh.loop", "parfor u in vertices").replace("OUTER", "low[u] = 1:i64")
    start, end = kernel.index("      for w in common"), kernel.index("    }\n    low[u]")
    asking = (
        f"      let x: vid = neighbor.in(u, 0:i64)\n      if {asks} {{\n        count[v] += 1:i64\n      }}\n"
    )
    text = kernel[:start] + asking + kernel[end:]
    assert ("mark[" in print_program(mark_common.run(parse_program(text), Context()))) == marked


def test_copies_are_written_without_atomics_and_folded():
    graph = Graph.from_edges([0], [1])
    kernel = lowered(program("sums", graph), Schedule(), 0)
    copies = {p.name for p in kernel.properties if p.site is ir.Site.THREAD}
    writes = [n for n in walk(kernel) if isinstance(n, ir.Reduce | ir.Store) and n.prop in copies]
    assert writes
    assert not any(isinstance(n, ir.Reduce) and n.atomic for n in writes)
    assert sum(isinstance(n, ir.Fold) for n in walk(kernel)) == 2  # one for each apply
    short = Context(facts=Facts(short_lists=True))
    plain = PassManager(short).run(program("sums", graph), PIPELINE)
    assert not any(p.site is ir.Site.THREAD for p in plain.properties)
    alone = lowered(program("sums", graph), Schedule(), 1)
    assert not any(isinstance(n, ir.Fold) for n in walk(alone))


GUARDED = """
  for (v, e) in out(u) {
    for w in common(out(u), out(v)) {
      if (GUARD) {
        break
      }
      count[w] += cast<i64>(v)
    }
  }
"""


@pytest.mark.parametrize(
    ("guard", "bounds"),
    [
        ("w > u", True),
        ("w >= u", True),
        ("u < w", True),
        ("u <= w", True),
        ("w < u", False),
        ("w <= u", False),
        ("u > w", False),
        ("u >= w", False),
        ("w == u", False),
        ("count[w] > 3:i64", False),
    ],
)
def test_a_guard_that_lets_no_larger_vertex_pass_ends_the_walk(guard, bounds):
    """Another one stands where it stood, behind the end at the last vertex marked."""
    text = HEAD + GUARDED.replace("GUARD", guard) + TAIL
    kernel = print_program(lowered(fitted(text, Graph.from_edges([0], [1])), Schedule(), 1))
    assert ("> last" not in kernel) == bounds
    assert "let new: bool" in kernel  # the rest is not only sums of constants


@pytest.mark.parametrize(
    "branch", ["count[u] += 1:i64", "count[u] += 1:i64\nbreak", "break\n} else {\ncount[u] += 1:i64"]
)
def test_a_guard_that_does_more_is_part_of_the_body(branch):
    text = HEAD + GUARDED.replace("GUARD", "w > u").replace("break", branch) + TAIL
    kernel = lowered(fitted(text, Graph.from_edges([0], [1])), Schedule(), 1)
    assert "> last" in print_program(kernel)


KERNEL = """\
program p: kernel, ids 32, offsets 32
vertex count: i64 local
vertex low: i64 local
run {
  fresh.loop {
    for (v, e) in out(u) {
      for w in common(out(u), out(v)) {
        INNER
      }
    }
    OUTER
  }
}
return count
"""


def after(run, loop="parfor u in vertices", inner="count[w] += 1:i64", outer="low[u] = 1:i64", **context):
    """The text of a kernel with one parallel loop after a pass."""
    text = KERNEL.replace("fresh.loop", loop).replace("INNER", inner).replace("OUTER", outer)
    return print_program(run(parse_program(text), Context(**context)))


@pytest.mark.parametrize(
    ("loop", "marked"),
    [
        ("parfor u in vertices", True),
        ("parfor u in vertices words", True),
        ("parfor u in vertices cut out", False),
        ("parfor u in vertices segments 4", False),
        ("parfor u in vertices by warp", False),
    ],
)
def test_only_who_has_a_whole_list_and_a_memory_of_its_own_marks_it(loop, marked):
    assert ("mark" in after(mark_common.run, loop)) == marked
    assert "mark" not in after(mark_common.run, loop, facts=Facts(short_lists=True))
    by_groups = "cut" in loop or "by" in loop
    assert ("in out(u) marks out {" in after(mark_common.run, loop, abilities=CUDA)) == by_groups
    assert "mark" not in after(mark_common.run, loop, abilities=CUDA, facts=Facts(short_lists=True))


@pytest.mark.parametrize(
    ("inner", "threads", "branch"),
    [
        ("count[w] += 1:i64", 1, False),
        ("count[w] += 1:i64", 0, True),  # another thread may be there
        ("count[w] += 1:i64\ncount[v] += 2:i64", 1, False),
        ("count[w] += low[w]", 1, True),
        ("count[w] max= 1:i64", 1, True),
        ("count[w] += 1:i64\nlow[w] max= 1:i64", 1, True),
    ],
)
def test_only_constants_are_added_without_a_branch(inner, threads, branch):
    assert ("let new" in after(mark_common.run, inner=inner, threads=threads)) == branch


@pytest.mark.parametrize(
    ("inner", "outer", "copied"),
    [
        ("count[w] += 1:i64", "low[u] = 1:i64", {"count"}),
        ("count[w] += 1:i64\nlow[v] += 1:i64", "", {"count", "low"}),
        ("count[w] += 1:i64", "low[u] += 1:i64", {"count"}),  # once per vertex: a copy would not pay
        ("count[w] += 1:i64", "count[u] += 1:i64", {"count"}),
        ("count[w] += 1:i64", "count[u] max= 1:i64", set()),
        ("count[w] += 1:i64", "count[u] = 1:i64", set()),
        ("count[w] += 1:i64", "low[u] = count[u]", set()),
        ("count[w] max= 1:i64", "", set()),
        ("let c: bool = false\ncount[w] += 1:i64 -> c", "", set()),
        ("count[w] += 1:i64", "let c: bool = false\ncount[u] += 1:i64 -> c", set()),
    ],
)
def test_threads_have_copies_of_what_is_only_added_to(inner, outer, copied):
    assert {
        p for p in ("count", "low") if f"{p}.own" in after(own_copies.run, inner=inner, outer=outer)
    } == copied


def test_no_copies_where_they_cannot_be_or_would_not_pay():
    for context in ({"threads": 1}, {"facts": Facts(short_lists=True)}, {"abilities": CUDA}):
        assert ".own" not in after(own_copies.run, **context)
    alone = after(own_copies.run, "alone {\n  parfor u in vertices", outer="low[u] = 1:i64\n}")
    assert "alone" in alone
    assert ".own" not in alone

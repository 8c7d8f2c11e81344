"""Programs whose floats are rounded differently in every order, and ways to run kernel IR in many orders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

import vgraph as vg
from vgraph.compiler import ir, space
from vgraph.compiler.frontend import argument_types, build_program
from vgraph.compiler.interpret import interpret
from vgraph.compiler.ir.rewrite import Context, PassManager
from vgraph.compiler.passes import PIPELINE
from vgraph.runtime.executor import signature_of
from vgraph.runtime.policy import facts_of, number

Bits = dict[str, bytes]


@vg.operator
def scatter(v, graph):
    vg.vertex(v.home).got += 1.0 / (v.id + 3)
    graph.total += v.number


@vg.algorithm
def scattered(graph, home: vg.vertex_property(vg.int64), number: vg.vertex_property(vg.float64)):
    got = graph.vertex_property(vg.float64)
    graph.total = 0.0
    graph.vertex_apply(scatter)
    total = graph.total
    return got, total


@vg.operator
def pass_on(src, edge, dst, graph):
    dst.got += src.number / 3.0
    if src.number > 1.0:
        dst.got += src.number / 7.0
    if src.number < 0.0:
        dst.kept += src.number  # never
    dst.product *= 1.0 + src.number * 1e-3
    graph.total += src.number * 0.1


@vg.algorithm
def passed_on(graph, number: vg.vertex_property(vg.float64)):
    got = graph.vertex_property(vg.float32, fill=0.1)
    product = graph.vertex_property(vg.float64, fill=1.1)
    kept = graph.vertex_property(vg.float64, fill=-0.0)
    graph.total = 0.0
    graph.edge_apply(pass_on)
    total = graph.total
    return got, product, kept, total


@vg.operator
def reach(src, edge, dst, graph):
    if dst.level == -1:
        dst.level = graph.depth
        dst.parent = src


@vg.operator
def hand_down(src, edge, dst, graph):
    if dst.level == graph.depth:
        dst.sum += src.sum / 3.0 + 0.1


@vg.operator
def weigh(v, graph):
    graph.mean += v.sum * 0.3
    v.root = v.parent


@vg.algorithm
def levels(graph, source: vg.vertex):
    level = graph.vertex_property(vg.int32, fill=-1)
    parent = graph.vertex_property(vg.vertex, fill=vg.none)
    root = graph.vertex_property(vg.vertex, fill=vg.none)
    sum = graph.vertex_property(vg.float64)
    level[source] = 0
    sum[source] = 1.0
    graph.mean = 0.0
    graph.depth = 0
    frontier = graph.frontier(source)
    while frontier:
        graph.depth += 1
        graph.vertex_apply(weigh, frontier)
        before = frontier
        frontier = graph.edge_apply(reach, frontier)
        graph.edge_apply(hand_down, before)
    mean = graph.mean
    return level, parent, root, sum, mean


@vg.operator
def both_zeros(src, edge, dst):
    dst.low = min(dst.low, src.zero)
    dst.high = max(dst.high, src.zero)


@vg.operator
def here(v):
    v.least = v.zero
    for u in v.in_neighbors:
        v.least = min(v.least, u.zero)


@vg.algorithm
def zeros(graph, zero: vg.vertex_property(vg.float64)):
    low = graph.vertex_property(vg.float64, fill=1.0)
    high = graph.vertex_property(vg.float64, fill=-0.0)
    least = graph.vertex_property(vg.float64)
    graph.edge_apply(both_zeros)
    graph.vertex_apply(here)
    return low, high, least


@vg.operator
def local_sum(v):
    total = 0.1
    for e in v.in_edges:
        total += e.src.number / 7.0
    v.total += total


@vg.operator
def own_sum(v):
    for e in v.in_edges:
        v.own += e.src.number / 11.0


@vg.operator
def product_of_all(v, graph):
    for u in v.out_neighbors:
        graph.all *= 1.0 + u.total * 1e-4


@vg.algorithm
def of_vertices(graph, number: vg.vertex_property(vg.float64)):
    total = graph.vertex_property(vg.float64, fill=0.3)
    own = graph.vertex_property(vg.float64)
    graph.all = 1.0
    graph.vertex_apply(local_sum)
    graph.vertex_apply(own_sum)
    graph.vertex_apply(product_of_all)
    all = graph.all
    return total, own, all


@vg.operator
def join(v, graph):
    if v.set != graph.known:
        v.joined = 1
        for u in v.out_neighbors:
            vg.union(v.set, u.set)


@vg.algorithm
def joined_first(graph):
    set = graph.disjoint_sets()
    joined = graph.vertex_property(vg.int32)
    graph.known = vg.vertex(0)
    graph.vertex_apply(join)
    return set, joined


@vg.operator
def vectors(src, edge, dst, graph):
    dst.got += src.feature * 0.1
    graph.total += vg.sum(src.feature)


@vg.algorithm
def of_vectors(graph, feature: vg.vertex_property(vg.vector(vg.float32, 3))):
    got = graph.vertex_property(vg.vector(vg.float32, 3))
    graph.total = 0.0
    graph.edge_apply(vectors)
    total = graph.total
    return got, total


PROGRAMS = (scattered, passed_on, levels, zeros, of_vertices, joined_first, of_vectors)


# --- random programs --------------------------------------------------------------------------------------------

NUMBERS = ("a", "b", "c", "low", "high")
"""Float properties that operators read at `src`, at `v` and at neighbors."""
EDGES = (
    "dst.a += {e}",
    "dst.a -= {e}",
    "dst.b *= 1.0 + {e} * 1e-3",
    "graph.total += {e}",
    "dst.low = min(dst.low, {e})",
    "dst.high = max(dst.high, {e})",
    "if dst.mark == -1:\n        dst.mark = src.id\n        dst.note = {e}",
    "if {e} < 0.7:\n        dst.a += {e}",
)
"""Statements of an edge operator; {e} stands for an expression."""
VERTICES = (
    "v.c = {e}",
    "v.c += {e}",
    "graph.total += {e}",
    "graph.total -= v.b * {e}",
    "local = 0.1\n    for u in v.in_neighbors:\n        local += u.b * {e}\n    v.c = local",
    "for u in v.out_neighbors:\n        v.c = v.c + u.low / 3.0",
    "for u in v.out_neighbors:\n        graph.total += u.high * {e}",
)
SCATTERS = (
    "for u in v.out_neighbors:\n        u.a += {e}",
    "vg.vertex(v.id // 3).b *= 1.0 + {e} * 1e-3",
    "for u in v.out_neighbors:\n        u.low = min(u.low, {e})",
)
TEXT = """import vgraph as vg


@vg.operator
def start(v):
    v.a = vg.float32(1.0 / (v.id + 3))
    v.b = 1.0 + v.id / 7.0
    v.c = v.number
    v.low = vg.sqrt(v.id + 0.1)
    v.high = 0.0 if v.id % 2 == 0 else -0.0

{operators}
@vg.algorithm
def program(graph, source: vg.vertex, number: vg.vertex_property(vg.float64)):
    a = graph.vertex_property(vg.float32)
    b = graph.vertex_property(vg.float64)
    c = graph.vertex_property(vg.float64)
    low = graph.vertex_property(vg.float64)
    high = graph.vertex_property(vg.float64)
    mark = graph.vertex_property(vg.int64, fill=-1)
    note = graph.vertex_property(vg.float64)
    graph.total = 0.1
    graph.vertex_apply(start)
    near = graph.frontier(source)
{steps}    total = graph.total
    return a, b, c, low, high, mark, note, total
"""


@st.composite
def expressions(draw: st.DrawFn, at: str, depth: int = 2) -> str:
    """A float expression of what is at a vertex."""
    if depth == 0:
        return draw(st.sampled_from([*(f"{at}.{name}" for name in NUMBERS), f"({at}.id / 7.0)", "0.3"]))
    left, right = (draw(expressions(at, depth - 1)) for _ in range(2))
    form = draw(st.sampled_from(["({} + {})", "({} - {})", "({} * {})", "min({}, {})", "({} / ({} + 3.0))"]))
    return form.format(left, right)


@st.composite
def operators(draw: st.DrawFn, name: str) -> tuple[str, str]:
    """An operator, and how it is applied."""
    kind = draw(st.sampled_from(["edge", "vertex", "scatter"]))
    pool = {"edge": EDGES, "vertex": VERTICES, "scatter": SCATTERS}[kind]
    at, args = ("src", "src, edge, dst, graph") if kind == "edge" else ("v", "v, graph")
    most = 1 if kind == "scatter" else 3
    chosen = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=most, unique_by=lambda s: s[:5]))
    # What is added elsewhere may not depend on what is changed there.
    values = expressions(at) if kind != "scatter" else st.sampled_from(["v.number / 3.0", "v.c * 0.7"])
    body = [s.replace("{e}", draw(values)) for s in chosen]
    text = f"\n@vg.operator\ndef {name}({args}):\n" + "".join(f"    {s}\n" for s in body)
    where = draw(st.sampled_from(["", ", near", ", near"]))
    if kind == "edge":
        grows = draw(st.booleans()) and where
        return text, f"{'near = ' if grows else ''}graph.edge_apply({name}{where})"
    return text, f"graph.vertex_apply({name}{where})"


@st.composite
def program_texts(draw: st.DrawFn) -> str:
    """The module text of a program."""
    found = [draw(operators(f"op{k}")) for k in range(draw(st.integers(1, 3)))]
    steps = "".join(f"    {step}\n" for _, step in found)
    return TEXT.format(operators="\n".join(text for text, _ in found) + "\n", steps=steps)


# --- running ----------------------------------------------------------------------------------------------------


def graph_of(n: int, seed: int) -> vg.Graph:
    """A multigraph with a hub that is read and one that is written."""
    rng = np.random.default_rng(seed)
    s, t = (rng.integers(0, n, 4 * n) // rng.integers(1, 8, 4 * n) for _ in range(2))
    return vg.Graph.from_edges(s, t, num_vertices=n, directed=True, weight=rng.random(4 * n))


def arguments_for(algorithm: vg.AlgorithmDef, graph: vg.Graph, seed: int) -> dict[str, Any]:
    """Numbers that no two of which add up without rounding."""
    n, rng = graph.num_vertices, np.random.default_rng(seed)
    known = {
        "home": rng.integers(0, max(1, n // 9), n),
        "number": rng.random(n) * 10.0 ** rng.integers(-6, 6, n),
        "zero": rng.choice([0.0, -0.0], n),
        "feature": rng.random((n, 3)).astype(np.float32),
        "source": 0,
    }
    return {name: known[name] for name in algorithm.signature.parameters if name in known}


def bits_of(values: dict[str, Any]) -> Bits:
    """Every result, to the bit; any NaN is NaN."""
    arrays = {name: np.array(value) for name, value in values.items()}
    for array in arrays.values():
        if array.dtype.kind == "f":
            array[np.isnan(array)] = np.nan
    return {name: array.tobytes() for name, array in arrays.items()}


def ways(
    algorithm: vg.AlgorithmDef, graph: vg.Graph, arguments: dict[str, Any], count: int, seed: int
) -> Iterator[tuple[vg.Schedule, ir.Program]]:
    """`count` schedules that `deterministic=True` accepts, the default first, each with its kernel."""
    context = Context(facts=facts_of(graph), deterministic=True)
    program = build_program(algorithm, signature_of(graph, argument_types(algorithm, arguments)))
    some = space.sample(space.ready(program, context), context, count, seed)
    for schedule in [vg.Schedule(), *some]:
        given = Context(schedule, facts=context.facts, deterministic=True)
        yield schedule, PassManager(given).run(program, PIPELINE)


def interpreted(kernel: ir.Program, graph: vg.Graph, arguments: dict[str, Any], seed: int | None) -> Bits:
    """The kernel's results with visits in an order drawn by `seed`, on three threads."""
    hidden = {p.name: number(p.name, graph) for p in kernel.params if p.name.startswith("policy.")}
    threads = 1 if seed is None else 3
    return bits_of(interpret(kernel, graph, arguments | hidden, seed=seed, threads=threads))


def differing(
    algorithm: vg.AlgorithmDef, graph: vg.Graph, schedules: int, seeds: int, seed: int
) -> list[str]:
    """What differs between schedules and orders of visits: each difference as a text."""
    arguments = arguments_for(algorithm, graph, seed)
    found, expected = [], None
    for schedule, kernel in ways(algorithm, graph, arguments, schedules, seed):
        for order in (None, *range(seeds)):
            got = interpreted(kernel, graph, arguments, order)
            expected = got if expected is None else expected
            apart = [name for name in got if got[name] != expected[name]]
            found += [f"{name}: {schedule}, order {order}" for name in apart]
    return found

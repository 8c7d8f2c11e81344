"""A step that calls an algorithm, whose names are those of the program: neither may see what the other has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .programs import Writer

PART = """

@vg.operator
def op{n}({head}):
    if {test}:
        dst.x = min(dst.x, {value})
        graph.k += 1


@vg.function
def steps{n}(graph, op, frontier, most):
    for i in range(most):
        frontier = graph.edge_apply(op, frontier{reverse})
    return frontier


@vg.algorithm
def part{n}(graph, source, near: vg.vertex_property(vg.int64), rounds: vg.between(0, 9) = 3):
    x = graph.vertex_property(vg.int64, fill=60)
    size = 0
    graph.k = near[source] % 5
    f = graph.frontier(source)
    if rounds == 0:
        return x, size, f
    x[source] = graph.k
    f = steps{n}(graph, op{n}, f, rounds)
    size = len(f) + graph.k
    return x, size, f
"""


def call(w: Writer, n: int) -> list[str]:
    """A call in a loop, a branch or by itself, with its results named, copied or read."""
    r = w.r
    value = r.choice(["src.x + 1", "src.x + abs(edge.cost) % 7", "src.x + src.near % 3"])
    test = r.choice(["src.x < rounds + 4", "dst.near > 1", "True"])
    head = r.choice(["src, edge, dst, graph", "graph, src, edge, dst"])
    reverse = ", reverse=True" if w.chance(0.3) else ""
    w.lines += PART.format(n=n, head=head, test=test, value=value, reverse=reverse).rstrip().split("\n")
    first = r.choice(["source", "0", "(sizes_of_calls + 1) % graph.num_vertices"])
    given = f"part{n}(graph, {first}, x{r.choice(['', ', rounds', ', rounds=0', ', 2'])})"
    lines = [f"x = {given}.x", "sizes_of_calls += x[source] % 9"]
    if w.chance(0.6):
        lines = [f"r{n} = {given}", f"sizes_of_calls += r{n}.size % 9 + len(r{n}.f)", f"x = r{n}.x"]
    around = r.choice(["", "for i in range(2):", "if graph.num_vertices > 5:"])
    lines = [around, *(f"    {line}" for line in lines)] if around else lines
    return ["sizes_of_calls = 0", *lines, "sizes = sizes * 3 + sizes_of_calls"]

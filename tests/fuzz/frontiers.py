"""Random steps that make frontiers of arrays, properties and conditions, and of other frontiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import expressions as e
from .scope import BOOL, I64, Scope, Value

if TYPE_CHECKING:
    from .programs import Writer


def made(w: Writer, number: int) -> str:
    """An expression that gives a frontier."""
    flags = [f"{'graph.' * (p.owner == 'graph')}{p.name}" for p in w.properties if p.type == BOOL]
    choices = ["graph.frontier(several)", "graph.frontier(source)", "graph.vertices", "chosen"]
    return w.r.choice([*choices, condition(w), condition(w), *(f"graph.frontier({name})" for name in flags)])


def condition(w: Writer) -> str:
    """A frontier by a condition, which may read the algorithm's numbers."""
    w.begin_operator("vertex")
    scope = Scope(["v"], locals=[Value("sizes", I64), Value("rounds", I64)])
    tests = "".join(f" if {e.boolean(w, scope, 2).text}" for _ in range(w.r.randint(1, 2)))
    over = w.r.choice(["graph.vertices", "graph.vertices", "chosen"])
    return f"graph.frontier(v for v in {over}{tests})"


def combined(w: Writer, number: int) -> list[str]:
    """Frontiers are combined, and their sizes observed."""
    f = f"f{number}"
    op, again = w.r.choice("|&-"), w.r.choice("|&-")
    if w.chance(0.3):  # by a helper that returns where it knows
        name, limit = f"pick{number}", w.r.randint(1, 30)
        w.lines += ["", "", "@vg.function", f"def {name}(graph, a, b):"]
        w.line(1, f"if len(a) > {limit}:")
        w.line(2, w.r.choice(["return b", f"return a {again} b", "return graph.vertices"]))
        w.line(1, f"a {op}= b")
        w.line(1, w.r.choice(["return a", "return graph.frontier(v for v in a if v.out_degree > 1)"]))
        return [
            f"{f} = {name}(graph, {made(w, number)}, chosen)",
            f"sizes = sizes * 7 + len({f})",
            f"chosen = {name}(graph, chosen, {f})",
        ]
    return [
        f"{f} = {made(w, number)} {op} {made(w, number)}",
        f"sizes = sizes * 7 + len({f} {again} {made(w, number)})",
        f"chosen {w.r.choice('|||&-')}= {f}",
    ]

"""The value that goes with the best: lexicographic minima and maxima of places that random programs keep for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgraph.compiler.frontend.kinds import Weak

from . import expressions as e
from .scope import BOOL, F32, I32, I64, U64, Scope, Value, type_text

if TYPE_CHECKING:
    from .programs import Writer

KINDS = (I32, I64, U64, F32, BOOL)
"""Of the first of the two properties: words of 64 and of 128 bits."""


def declared(w: Writer) -> list[str]:
    """The declarations: two properties, and two globals."""
    return [
        f"best = graph.vertex_property({type_text(w.best)})",
        f"who = graph.vertex_property(vg.vertex{w.r.choice(['', ', fill=0'])})",
        "graph.peak = 3",
        "graph.holder = vg.none",
    ]


RESULTS = ("best", "who", "graph.peak", "graph.holder")


def _values(w: Writer, s: Scope, t: object) -> str:
    """Two values that are compared, the first with a place of type `t`."""
    if t == BOOL:
        first = e.boolean(w, s, 1).text
    elif t == F32:
        first = e.summand(w, s, 1, F32).text
    else:
        found = w.until(lambda: e.integer(w, s, 2), lambda v: not e._negative(v))
        first = e.cast(found, t).text  # type: ignore[arg-type]
    return f"({first}, {e.vertex(w, s, 1)})"


def updated(w: Writer, s: Scope, depth: int, at: str) -> None:
    """An update of two properties of a vertex, or of the two globals."""
    if w.chance(0.3):
        places, t = "graph.peak, graph.holder", I64
    else:
        places, t = f"{at}.best, {at}.who", w.best
    args = [f"({places})", _values(w, s, t), *([_values(w, s, t)] if w.chance(0.2) else [])]
    w.r.shuffle(args)
    op = w.way_of_best.setdefault(places[:5], w.r.choice(["min", "max"]))
    w.line(depth, f"{places} = {op}({', '.join(args)})")


def local(w: Writer, s: Scope, depth: int) -> bool:
    """Two variables."""
    number, vertex = w.new(), w.new()
    first = w.until(lambda: e.integer(w, s, 1), lambda v: not isinstance(v.kind, Weak))
    w.line(depth, f"{number} = {first.text}")
    w.line(depth, f"{vertex} = {e.vertex(w, s, 1)}")
    values = _values(w, s, first.kind)
    w.line(depth, f"{number}, {vertex} = {w.r.choice(['min', 'max'])}(({number}, {vertex}), {values})")
    s.locals.append(Value(number, first.kind))
    s.maybe.append(vertex)
    return True

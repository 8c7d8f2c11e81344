"""Random sets of neighbors: what loops run over, whose size is taken, what a vertex is looked for in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import expressions as e
from .scope import BOOL, I64, Scope, Value

if TYPE_CHECKING:
    from .programs import Writer


def some(w: Writer, s: Scope, depth: int) -> str:
    """Neighbors of a vertex, or a set that is made of those of several."""
    if depth <= 0 or w.chance(0.3):
        v = w.r.choice([*s.vertices, *s.maybe])
        return f"{v}.{w.r.choice(['out_neighbors', 'out_neighbors', 'in_neighbors', 'neighbors'])}"
    return combined(w, s, depth)


def combined(w: Writer, s: Scope, depth: int) -> str:
    """A set that is made of the neighbors of several."""
    return f"({some(w, s, depth - 1)} {w.r.choice('&&|-')} {some(w, s, depth - 1)})"


def size(w: Writer, s: Scope, depth: int) -> Value | None:
    """How many there are; not in a loop, for it takes as long as one."""
    if not s.vertices or w.loops:
        return None
    return Value(f"len({combined(w, s, 2)})", I64)


def membership(w: Writer, s: Scope, depth: int) -> Value | None:
    """Whether a vertex is in a set."""
    if not s.vertices:
        return None
    vertex = w.r.choice([e.vertex(w, s, depth - 1), "vg.none", str(w.r.randint(0, 5))])
    return Value(f"({vertex} {w.r.choice(['in', 'not in'])} {some(w, s, 2)})", BOOL)


def loop(w: Writer, s: Scope, depth: int) -> tuple[Scope, int] | None:
    """A loop over a set."""
    if w.loops > 0:
        return None
    name, inner = w.new(), s.inner()
    w.line(depth, f"for {name} in {combined(w, s, 2)}:")
    inner.vertices.append(name)
    return inner, depth + 1

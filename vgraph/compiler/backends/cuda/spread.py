"""Vectors across lanes: activations of a plan by groups of threads, each of which has some elements of every vector.

The lanes of a group do the same, with equal scalars; of a vector each loads, computes and stores its share (`plans.cuh`),
so that what the group reads lies side by side. Sums over elements are made by shuffles. In the body vectors are
of as many elements as a lane has.
"""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.backends.cuda.emitter import Emitter, Spread
from vgraph.compiler.backends.scan import walk_body
from vgraph.compiler.ir.rewrite import transform_body, with_fields
from vgraph.compiler.types import Type, Vector

WARP: Final = 32
_CHUNK: Final = 4
"""Elements that a lane loads at once."""
_VALUES: Final = (
    *(ir.Load, ir.Var, ir.Unary, ir.Binary, ir.Cast, ir.Call, ir.Element, ir.Insert, ir.Select),
    *(ir.Let, ir.Assign, ir.Accumulate, ir.Store),
)
"""What vectors may stand in."""


def spread_of(f: Emitter, body: ir.Body) -> Spread | None:
    """How lanes share the vectors of a body; None if there are none, of several lengths, or in what needs them whole."""
    own = {n.name for n in walk_body(body) if isinstance(n, ir.Let)}
    lengths = set[int]()
    for n in walk_body(body):
        found = {t.length for t in _types(f, n) if isinstance(t, Vector)}
        if found and (not isinstance(n, _VALUES) or (isinstance(n, ir.Var) and n.name not in own)):
            return None
        lengths |= found
    if len(lengths) != 1:
        return None
    (length,) = lengths
    chunk = _CHUNK if length % _CHUNK == 0 else 1
    chunks = length // chunk
    lanes = min(WARP, 1 << (chunks - 1).bit_length())
    return Spread(length, lanes, -(-chunks // lanes) * chunk)


def _types(f: Emitter, n: ir.Node) -> list[Type]:
    """The types of what a node is, takes, or names."""
    found = [getattr(n, name) for name in ("type", "to") if hasattr(n, name)]
    if isinstance(n, ir.ReduceGlobal | ir.Reduce | ir.Store | ir.CompareAndSwap):
        found.append(n.value.type)
    return found


def narrowed(body: ir.Body, spread: Spread) -> ir.Body:
    """The body, in which vectors are of as many elements as a lane has."""

    def share(t: Type) -> Type:
        return Vector(t.element, spread.each) if isinstance(t, Vector) else t

    def rule(n: ir.Node) -> ir.Node | None:
        match n:
            case ir.Load() | ir.Var() | ir.Let() | ir.Call():
                return with_fields(n, {"type": share(n.type)}) if isinstance(n.type, Vector) else None
            case ir.Cast(to=Vector()):
                return with_fields(n, {"to": share(n.to)})
        return None

    return transform_body(body, rule)


def looks(f: Emitter, body: ir.Body, names: tuple[str, ...]) -> list[str]:
    """What the body reads at vertices and arcs that are known before, each once."""
    places = {
        f"{f.prop(n.prop)}[{f.local(n.index.name)}]": None
        for n in walk_body(body)
        if isinstance(n, ir.Load) and isinstance(n.index, ir.Var) and n.index.name in names
    }
    return [f"peek(lanes, {place})" for place in places]

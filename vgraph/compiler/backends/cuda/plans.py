"""Loops along a plan of arcs: each by a thread, or by a group of lanes that share its vectors.

The lanes of a group do the same, with equal scalars. Of a vector each loads, computes and stores its share
(`plans.cuh`), so that what a group reads lies side by side; sums over elements are made by shuffles. In the body
vectors are of as many elements as a lane has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.kept_ends import KeptEnds
from vgraph.compiler.analysis.slices import arcs_of
from vgraph.compiler.backends.cuda.emitter import Emitter, Place, Region, Spread
from vgraph.compiler.backends.cuda.texts import type_name
from vgraph.compiler.backends.scan import walk_body
from vgraph.compiler.types import EID, VID, Type, Vector

WARP: Final = 32
_CHUNK: Final = 4
"""Elements that a lane loads at once."""
_VALUES: Final = (
    *(ir.Load, ir.Var, ir.Unary, ir.Binary, ir.Cast, ir.Call, ir.Element, ir.Insert, ir.Select),
    *(ir.Let, ir.Assign, ir.Accumulate, ir.Store),
)
"""What vectors may stand in."""


def by_plan(f: Emitter, node: ir.ParFor, region: Region) -> None:
    """The cells of one phase after the other. What is read at the ends of an arc stays in registers."""
    assert isinstance(node.domain, ir.PlannedArcs)
    bounds = node.domain.start, node.domain.stop
    key, forward = node.domain.key, node.domain.orientation is ir.Orientation.OUT
    count, cells = (f.names.of("prepared", f"{key}.{name}") for name in ("count", "cells"))
    names = ("sources", "targets", "phases", "bounds", "firsts", "steps")
    sources, targets, phases, *parts = (f.array(f"{key}.{name}") for name in names)
    arc, visit, look, fetch, known, kind = (
        f.temporary(x) for x in ("arc", "visit", "look", "fetch", "known", "Known")
    )
    spread = region.spread = spread_of(node.body)
    if spread is not None:
        node = ir.with_fields(node, {"body": narrowed(node.body, spread)})
    walked = arcs_of(node)
    ends, edge = (node.vertex, walked.vertex), f.local(walked.edge)
    src, dst = map(f.local, ends)
    fixed = _fixed(f, walked)
    fields = {
        "near": ("vid", sources if forward else targets),
        "far": ("vid", targets if forward else sources),
    }
    fields |= {f"of_{k}": (type_name(t), f.prop(name)) for k, (name, t) in enumerate(fixed.items())}
    f.line(f"struct {kind} {{ {' '.join(f'{t} {name};' for name, (t, _) in fields.items())} }};")
    values = ", ".join(f"fixed(&{array}[{arc}])" for _, array in fields.values())
    f.line(f"auto {fetch} = [&](i64 {arc}) {{ return {kind}{{{values}}}; }};")

    kept = KeptEnds(walked.body, ends, elements=spread is not None)
    here = {} if any(isinstance(n, ir.Lock) for n in walk_body(node.body)) else kept.places(walked.body)
    new = ir.with_fields(walked, {"body": kept.body(walked.body, here)})
    held = {end: f.temporary(f"{end} held") for end in ends}
    f.line(f"vid {', '.join(f'{name} = 0' for name in held.values())};")
    for local in here.values():
        f.line(f"{type_name(local.type)} {f.local(local.name)} = {{}};")
    with f.block(f"auto {visit} = [&](auto lanes, i64 {arc}, {kind} {known}, bool again)", "};"):
        f.line(f"vid {src} = {known}.near, {dst} = {known}.far;")
        region.planned, region.kept = arc, frozenset(prop for prop, _ in here)
        region.fetched = {(name, walked.edge): f"{known}.of_{k}" for k, name in enumerate(fixed)}
        with f.at(Place.GROUP if spread else Place.THREAD):
            for end, name in held.items() if here else ():
                _read_end(f, end, name, here)
            if here and spread:
                f.line("lanes.wait();  // all have read")
        body = ir.transform_body(node.body, lambda n: new if n == walked else None)
        f.visit(body, "return", Place.GROUP if spread else Place.THREAD)
        region.fetched = {}
    with f.block(f"auto {look} = [&](auto lanes, i64 {arc}) -> u32", "};"):
        f.line(f"vid {src} = fixed(&{fields['near'][1]}[{arc}]), {dst} = fixed(&{fields['far'][1]}[{arc}]);")
        f.line(f"eid {edge} = {arc};")
        f.line(f"return {' ^ '.join(_looks(f, walked, (*ends, walked.edge))) or '0'};")
    group = f"Lanes<{spread.lanes}>" if spread and spread.lanes > 1 else "Thread"
    first, last = bounds
    if first is not None and last is not None:
        phases, count = f"{phases} + {f.expr(first)}", f"{f.expr(last)} - {f.expr(first)}"
    plan = ", ".join((phases, count, cells, *parts))
    f.stops(f"by_plan<{group}>(team, Plan{{{plan}}}, {fetch}, {visit}, {look})")


def _read_end(f: Emitter, end: str, held: str, here: Mapping[tuple[str, str], ir.Var]) -> None:
    """What is kept of an end of the arc, unless it is the end of the arc before: that is `held`."""
    with f.block(f"if (!(again && {held} == {f.local(end)}))"):
        for (prop, at), local in here.items():
            if at == end:
                f.line(f"{f.local(local.name)} = {f.expr(ir.Load(prop, ir.Var(at, VID), local.type))};")
    f.line(f"{held} = {f.local(end)};")


def _fixed(f: Emitter, walked: ir.ForNeighbors) -> dict[str, Type]:
    """The properties of arcs that the body reads and nobody writes: they are read an arc ahead."""
    loads = [n for n in walk_body(walked.body) if isinstance(n, ir.Load) and n.prop not in f.written]
    edge = ir.Var(walked.edge, EID)
    return {n.prop: n.type for n in loads if n.index == edge and not isinstance(n.type, Vector)}


def _looks(f: Emitter, walked: ir.ForNeighbors, names: tuple[str, ...]) -> list[str]:
    """What the body reads at vertices and arcs that are known before, each once."""
    loads = [n for n in walk_body(walked.body) if isinstance(n, ir.Load)]
    known = [n for n in loads if isinstance(n.index, ir.Var) and n.index.name in names]
    return [
        f"peek(lanes, {place})"
        for place in dict.fromkeys(f"{f.prop(n.prop)}[{f.expr(n.index)}]" for n in known)
    ]


def spread_of(body: ir.Body) -> Spread | None:
    """How lanes share the vectors of a body; None without any, with several lengths, or where one is needed whole."""
    own = {n.name for n in walk_body(body) if isinstance(n, ir.Let)}
    lengths = set[int]()
    for n in walk_body(body):
        found = {t.length for t in _types(n) if isinstance(t, Vector)}
        if isinstance(n, ir.Reduce | ir.CompareAndSwap | ir.Union):
            return None  # one lane does it, whose outcome the others would not see
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


def _types(n: ir.Node) -> list[Type]:
    """The types of what a node is, makes, or writes."""
    made = n.value.type if isinstance(n, ir.ReduceGlobal | ir.Store) else None
    return [t for t in (getattr(n, "type", None), getattr(n, "to", None), made) if t is not None]


def narrowed(body: ir.Body, spread: Spread) -> ir.Body:
    """The body, in which vectors are of as many elements as a lane has."""

    def rule(n: ir.Node) -> ir.Node | None:
        match n:
            case ir.Load(type=Vector(element)) | ir.Var(type=Vector(element)) | ir.Let(type=Vector(element)):
                return ir.with_fields(n, {"type": Vector(element, spread.each)})
            case ir.Call(type=Vector(element)):
                return ir.with_fields(n, {"type": Vector(element, spread.each)})
            case ir.Cast(to=Vector(element)):
                return ir.with_fields(n, {"to": Vector(element, spread.each)})
        return None

    return ir.transform_body(body, rule)

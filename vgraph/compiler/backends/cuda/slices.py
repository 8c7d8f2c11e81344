"""Parallel loops over slices: pulls with the values of their sources in the memory that a block shares."""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.lanes import carried
from vgraph.compiler.analysis.slices import key_of, sliced
from vgraph.compiler.backends.cuda.emitter import Emitter, Region
from vgraph.compiler.backends.cuda.statements import OPERATIONS
from vgraph.compiler.backends.cuda.texts import constant, type_name
from vgraph.compiler.ir.reductions import neutral
from vgraph.compiler.types import Vector, element_of
from vgraph.graph.layouts.slices import MOST, PADDING, SLICES, UNIT

ROOM = 7 * UNIT
"""Bytes that the values of a segment take at most: of the 227 KB of a multiprocessor (compute capability 9.0), what
leaves a little for everything else."""


def by_slices(f: Emitter, node: ir.ParFor, region: Region) -> None:
    """What is declared before the loop over arcs begins anew with each row; what stands behind it ends the row."""
    found, key = sliced(node), key_of(node, f.program.target)
    src, edge, dst = map(f.local, found.names)
    at = node.body.index(found.arcs)
    t, local = type_name(found.value.type), f"{found.arcs.vertex}.value"
    names = ("load", "active", "begin", "arc", "together", "end")
    load, active, begin, arc, together, end = map(f.temporary, names)
    lets = [s for s in node.body[:at] if isinstance(s, ir.Let)]
    assert len(lets) == at, "a row begins with what it adds up"
    for let in lets:
        f.line(f"{type_name(let.type)} {f.local(let.name)};")
    with f.block(f"auto {begin} = [&]", "};"):
        for let in lets:
            f.line(f"{f.local(let.name)} = {f.expr(let.value)};")
    body = found.with_value(local)
    with f.block(f"auto {arc} = [&]({t} {f.local(local)}, u64 {edge})", "};"):
        f.visit(body, "return")
    sums = carried(found.arcs)
    assert sums is not None, "rows of one destination are combined"
    with f.block(f"auto {together} = [&]", "};"):
        for name, (op, _) in sums.items():
            f.line(f"{f.local(name)} = warp_reduce<{OPERATIONS[op]}>({f.local(name)});")
    with f.block(f"auto {end} = [&](vid {dst})", "};"):
        f.visit(node.body[at + 1 :], "return")
    numbers = [f.names.of("prepared", f"{key}.{name}") for name in SLICES.numbers]
    arrays = [f.array(f"{key}.{name}") for name in SLICES.arrays]
    nothing = None if found.frontier else _nothing(body, local, found.names[1])
    text = constant(0 if nothing is None else nothing, found.value.type, f.program.target)
    match found.value:
        case ir.Load(prop, ir.Var(), order=ir.Order.PLAIN) if not isinstance(found.value.type, Vector):
            f.line(f"Plain<{t}> {load}{{{f.prop(prop)}}};")
        case _:
            f.line(f"auto {load} = [&](vid {src}) {{ return {f.expr(found.value)}; }};")
    member = f"{f.frontier(found.frontier)}.contains({src})" if found.frontier else "true"
    f.line(f"auto {active} = [&](vid {src}) {{ return {member}; }};")
    absent = "ACTIVE" if found.frontier else "TESTED" if nothing is None else "NEUTRAL"
    text_of = ", ".join(numbers + arrays)
    layout = f"Slices<vid>{{{text_of}}}"
    if isinstance(node.domain, ir.PartedSlices):
        layout = f"PartSlices<vid>{{{{{text_of}}}, {f.array(f'{key}.members')}}}"
    f.line(f"by_slices<{t}, {absent}>(team, hub_turn, {layout}, {f.num_vertices}, {text},")
    f.line(f"    {load}, {active}, {begin}, {arc}, {together}, {end});")
    f.shared = max(f.shared, PADDING + min(ROOM, MOST * found.bits(f.program.target) // 8))


def _nothing(body: ir.Body, local: str, edge: str) -> float | None:
    """The value of a source that changes nothing, if there is one: where no arc is, values of edges are 0."""

    def bare(e: ir.Expr) -> ir.Expr:
        return bare(e.operand) if isinstance(e, ir.Cast) else e

    def are_both(a: ir.Expr, b: ir.Expr) -> bool:
        """One is the value, the other one of the edge."""
        names = {n.name for n in (bare(a), bare(b)) if isinstance(n, ir.Var)}
        return names == {local} and any(
            isinstance(n, ir.Load) and isinstance(n.index, ir.Var) and n.index.name == edge
            for n in (bare(a), bare(b))
        )

    match body:
        case (ir.Accumulate(op=op, value=ir.Var(name=name)) as only,) if name == local:
            return neutral(op, only.value.type)
        case (ir.Accumulate(op="+", value=value),):
            match bare(value):
                case ir.Binary("*", a, b) if are_both(a, b):
                    return 0
        case (ir.Accumulate(op="min" | "max" as op, value=ir.Binary("+", a, b) as sum_),):
            plain = bare(a) is a and bare(b) is b and element_of(sum_.type).is_float
            return neutral(op, sum_.type) if plain and are_both(a, b) else None
    return None

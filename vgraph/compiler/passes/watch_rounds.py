"""`watch-rounds`: after each round the values of every property at some vertices are written down, in a ring.

before: `vertex dist: i32 local`; `frontier = edge_apply(relax, frontier)`
after:  `array watch.vertices: vid param`; `array dist.watch: i32 local`; `frontier = edge_apply(relax, frontier);
         for i in range(0, length(watch.vertices), 1) {
           dist.watch[at] = dist[watch.vertices[i]]; at = (at + 1) % length(dist.watch) }`

It runs before all others, and only where a run asks for it: who is watched is an argument, and no part of the code.
"""

from __future__ import annotations

from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.frontend.kinds import zero
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.types import I64, VID

VERTICES: Final = "watch.vertices"
"""The array of those that are watched."""
RING: Final = ".watch"
"""The end of the name of each ring, behind that of the property."""


def watched(program: ir.Program) -> list[ir.Property]:
    """The algorithm's own properties of vertices."""
    own = (p for p in program.properties if p.origin is ir.Origin.LOCAL and p.site is ir.Site.VERTEX)
    return [p for p in own if "." not in p.name]


def _called(prop: ir.Property) -> str:
    """The variable that holds a property, which may have another name where something else has its own."""
    return prop.name if prop.span is None else prop.span.text


def _run(program: ir.Program, context: Context) -> ir.Program:
    rings, fresh = {_called(p) + RING: p for p in watched(program)}, ir.fresh_names(program)
    if not rings:
        return program
    at, i, one = fresh("at"), fresh("i"), ir.Const(1, I64)
    vertex = ir.Load(VERTICES, ir.Var(i, I64), VID)
    written = (ir.Store(ring, ir.Var(at, I64), ir.Load(p.name, vertex, p.type)) for ring, p in rings.items())
    size = ir.ArrayLength(next(iter(rings)))
    after = ir.Binary("%", ir.Binary("+", ir.Var(at, I64), one), size)
    record = ir.For(i, ir.Const(0, I64), ir.ArrayLength(VERTICES), one, (*written, ir.Assign(at, after)))

    back = ir.Binary("%", ir.Binary("-", ir.Var(at, I64), ir.ArrayLength(VERTICES)), size)

    def rule(n: ir.Stmt) -> ir.Body | None:
        if isinstance(n, ir.VertexApply) and n.untraced:  # it belongs to the round before
            return (n, ir.Assign(at, back), record)
        return (n, record) if isinstance(n, ir.Apply) else None

    # a round may come before a property is declared: it is zero there
    begin = (ir.Fill(p.name, zero(p.type, None)) for p in rings.values())
    arrays = (
        ir.Property(VERTICES, VID, ir.Site.ARRAY, ir.Origin.PARAM),
        *(ir.Property(ring, p.type, ir.Site.ARRAY, ir.Origin.LOCAL) for ring, p in rings.items()),
    )
    return ir.with_fields(
        program,
        {
            "properties": (*program.properties, *arrays),
            "body": (*begin, ir.Let(at, I64, ir.Const(0, I64)), *ir.transform_driver(program.body, rule)),
            "results": (*program.results, *(ir.Result(ring, "property", ring) for ring in rings)),
        },
    )


watch_rounds = Pass("watch-rounds", _run, takes=ir.Level.ALGORITHM, gives=ir.Level.ALGORITHM)

"""`lower-storage`: how frontiers and the properties of arcs are stored; the program is at kernel level.

before: `frontier f`; `edge weight`; `parfor dst in vertices { for (src, e) in in(dst) { ... weight[e] ... } }`
after:  `frontier f sparse bitmap`; `edge_in weight.in`; `... { for (src, e) in in(dst) { ... weight.in[e] ... } }`
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.analysis.slices import arcs_of, key_of
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.types import EID
from vgraph.graph.layouts import ordered_name
from vgraph.graph.order import EDGE_NUMBER


def _edges_in_order(program: ir.Program) -> ir.Program:
    """Edge properties reached through in-arcs are read in the order of the transpose, or of its segments.

    What has an element for each edge is found by the arc's number, which such an arc reads as a property.
    """
    incoming = {
        n.edge: ""
        for n in ir.walk(program)
        if isinstance(n, ir.ForNeighbors) and n.orientation is ir.Orientation.IN
    }
    cut = [
        n
        for n in ir.walk(program)
        if isinstance(n, ir.ParFor) and isinstance(n.domain, ir.Segments | ir.Slices | ir.PlannedArcs)
    ]
    incoming |= {arcs_of(n).edge: key_of(n, program.target) for n in cut}
    permuted: dict[str, ir.Property] = {}

    def stored(declared: ir.Property, key: str) -> str:
        name, site = f"{declared.name}.in", ir.Site.EDGE_IN
        if key:
            name, site = ordered_name(declared.name, key), ir.Site.EDGE_SEGMENTS
        permuted[name] = ir.Property(name, declared.type, site, declared.origin, span=declared.span)
        return name

    def rule(n: ir.Node) -> ir.Node | None:
        if (
            isinstance(n, ir.Load | ir.Store | ir.Reduce)
            and n.index.type == EID
            and isinstance(n.index, ir.Var)
            and n.index.name in incoming
        ):
            declared, key = program.property(n.prop), incoming[n.index.name]
            if declared.site is ir.Site.NUMBERED:
                numbers = ir.Property(EDGE_NUMBER, EID, ir.Site.EDGE, ir.Origin.GRAPH, span=declared.span)
                at = ir.Load(stored(numbers, key), n.index, EID, span=n.span)
                return ir.with_fields(n, {"index": at})
            if declared.site is ir.Site.EDGE:
                return ir.with_fields(n, {"prop": stored(declared, key)})
        return None

    body = ir.transform_body(program.body, rule)
    used = {n.prop for top in body for n in ir.walk(top) if isinstance(n, ir.Load)}
    kept = tuple(p for p in program.properties if p.site is not ir.Site.EDGE or p.name in used)
    return ir.with_fields(program, {"body": body, "properties": (*kept, *permuted.values())})


def _frontiers_in_layouts(program: ir.Program) -> ir.Program:
    """Every frontier takes the layouts that any of them needs."""
    nodes = [n for top in program.body for n in ir.walk(top)]
    bitmap = any(
        isinstance(n, ir.InFrontier)
        or (
            isinstance(n, ir.FrontierPush | ir.FrontierConvert | ir.FrontierClear | ir.Domain)
            and n.layout is ir.Layout.BITMAP
        )
        for n in nodes
    )
    flags = any(isinstance(n, ir.FrontierPush) and n.layout is ir.Layout.SPARSE and n.dedupe for n in nodes)
    layouts = (ir.Layout.SPARSE, ir.Layout.BITMAP) if bitmap else (ir.Layout.SPARSE,)
    frontiers = tuple(ir.FrontierDecl(f.name, layouts, flags) for f in program.frontiers)
    body = program.body
    if not bitmap:
        body = ir.transform_driver(body, lambda n: () if isinstance(n, ir.FrontierConvert) else None)
    return ir.with_fields(program, {"frontiers": frontiers, "body": body})


def _run(program: ir.Program, context: Context) -> ir.Program:
    lowered = ir.with_fields(program, {"operators": (), "level": ir.Level.KERNEL})
    return _frontiers_in_layouts(_edges_in_order(lowered))


lower_storage = Pass("lower-storage", _run, takes=ir.Level.SCHEDULED, gives=ir.Level.KERNEL)

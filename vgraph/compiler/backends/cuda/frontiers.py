"""Frontiers: pushes inside parallel loops, and what the whole grid does together."""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.backends.cuda import crew, hops
from vgraph.compiler.backends.cuda.emitter import Emitter
from vgraph.compiler.backends.cuda.parallel import meet
from vgraph.compiler.types import I64, Scalar, is_long

SPARSE, BITMAP = ir.Layout.SPARSE, ir.Layout.BITMAP


def _has(f: Emitter, frontier: str, layout: ir.Layout) -> bool:
    """Whether the frontier can ever be in this layout; one never asked for any is a queue."""
    return layout in (f.scan.layouts[frontier] or {SPARSE})


def emit_push(f: Emitter, node: ir.FrontierPush) -> None:
    """`push next v`."""
    region = f.region
    assert region is not None, "pushes stand in parallel loops"
    target, v = f.frontier(node.frontier), f.agreed(node.vertex)
    if node.layout is BITMAP and node.frontier in region.own:
        f.line(f"{region.own[node.frontier]} = true;")
        return
    with f.effect():
        if region.ahead:
            hops.push(f, region.ahead, node, v, target)
        elif node.layout is BITMAP:
            own = isinstance(node.vertex, ir.Var) and node.vertex.name == region.vertex
            f.line(f"{region.counts[node.frontier]} += {target}.{'set_together' if own else 'set'}({v});")
        elif node.frontier in region.boxes:
            new = f"if ({target}.is_new({v})) " if node.dedupe else ""
            f.line(f"{new}{region.boxes[node.frontier][0]}.append({v});")
        else:
            new = f"if ({target}.is_first({v})) " if f.crew and node.dedupe else ""
            f.line(f"{new}{target}.{'append_new' if node.dedupe and not new else 'append'}({v});")
            crew.pushed(f, node.vertex)


def emit_clear(f: Emitter, node: ir.FrontierClear) -> None:
    """`clear f`."""
    target = f.frontier(node.frontier)
    if node.layout is BITMAP:
        f.stops(f"clear_bitmap(team, {target}, {f.num_vertices})")
    else:
        f.stops(f"clear_queue(team, {target})")


def emit_set(f: Emitter, node: ir.FrontierSet) -> None:
    """`f = empty`, `single(v)` or `all`."""
    target, sparse = f.frontier(node.out), _has(f, node.out, SPARSE)
    if node.kind is ir.FrontierKind.ALL:
        as_bitmap = "true" if _has(f, node.out, BITMAP) else "false"
        f.stops(f"set_all(team, {target}, {f.num_vertices}, {as_bitmap})")
    elif node.kind is ir.FrontierKind.EMPTY:
        emit_clear(f, ir.FrontierClear(node.out, SPARSE if sparse else BITMAP))
    else:
        assert node.vertex is not None
        v = f"(vid){f.expr(node.vertex)}"
        f.stops(f"set_single(team, {target}, {f.num_vertices}, {v}, {'false' if sparse else 'true'})")


def emit_copy(f: Emitter, node: ir.FrontierCopy) -> None:
    """`a = copy b`."""
    if node.source != node.out:
        f.stops(f"copy(team, {f.frontier(node.out)}, {f.frontier(node.source)}, {f.num_vertices})")


def emit_swap(f: Emitter, node: ir.FrontierSwap) -> None:
    """`swap f g`: every block exchanges its descriptors."""
    f.line(f"vg::swap(team, {f.frontier(node.left)}, {f.frontier(node.right)});")


def emit_convert(f: Emitter, node: ir.FrontierConvert) -> None:
    """`convert f to bitmap`: nothing if it has that layout."""
    function = "to_bitmap" if node.layout is BITMAP else "to_queue"
    f.stops(f"{function}(team, {f.frontier(node.frontier)}, {f.num_vertices})")


def emit_fill(f: Emitter, node: ir.Fill) -> None:
    """`fill dist = e`."""
    declaration = f.program.property(node.prop)
    size = {ir.Site.VERTEX: "num_vertices", ir.Site.EDGE: "num_arcs", ir.Site.EDGE_IN: "num_arcs"}
    which = size.get(declaration.site)
    n = f.names.of("size", which) if which else f.names.of("length", node.prop)
    i = f.temporary("place")
    with f.block(f"for (i64 {i} = thread_number(); {i} < {n}; {i} += num_threads())"):
        new = node.value
        if is_long(declaration.type) and isinstance(new, ir.Cast) and isinstance(new.operand.type, Scalar):
            f.line(f"fill_elements({f.prop(node.prop)}[{i}], {f.expr(new.operand)});")
        else:
            value = f.expr(new) if new is not None else f"(vid){i}"
            f.line(f"{f.prop(node.prop)}[{i}] = {value};")
    meet(f)


def emit_fail(f: Emitter, node: ir.Fail) -> None:
    """`fail "negative cycle"`: all threads leave together."""
    f.line(f"if (team.first()) fail(control, {f.scan.messages[node.message]}u);")
    f.line("return;")


def emit_trace(f: Emitter, node: ir.Trace) -> None:
    """`trace`: one thread records the round; its time runs from the record before it."""
    label, direction = f.scan.labels[node.label], f.scan.directions[node.direction]
    active = f.expr(node.active) if node.active.type == I64 else f"(i64){f.expr(node.active)}"
    edges = "" if crew.only_recorded(f, node.edges) else f", {f.expr(node.edges)}"
    f.line(f"log.record(team.last(), {label}, {direction}, {active}{edges});")

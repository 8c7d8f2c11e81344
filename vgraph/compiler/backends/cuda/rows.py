"""Loops of one thread over the arcs of a vertex: from CSR or from differences, one by one or a few at a time.

A thread waits for what it reads at the other end of an arc. Where a loop does nothing but add up, it reads for a few
arcs before it adds (`sum_row` in `rows.cuh`). And a thread that visits one vertex after the other reads the row and the
properties of the next one before the arcs of this one.
"""

from __future__ import annotations

from collections.abc import Callable

from vgraph.compiler import ir
from vgraph.compiler.analysis.gathers import sum_of
from vgraph.compiler.analysis.lanes import loops_over_arcs, own_arcs
from vgraph.compiler.backends.cuda import crew, hops
from vgraph.compiler.backends.cuda.emitter import Emitter, Region
from vgraph.compiler.backends.cuda.expressions import combined
from vgraph.compiler.backends.cuda.texts import type_name
from vgraph.compiler.backends.scan import walk_body
from vgraph.compiler.types import VID
from vgraph.graph.layouts.deltas import DELTAS


def walk_row(f: Emitter, node: ir.ForNeighbors, columns: str) -> None:
    """`for (u, e) in out(v)`."""
    side, e, u = node.orientation.value, f.local(node.edge), f.local(node.vertex)
    rows, v = f.array(f"{side}.row_offsets"), f.define(VID, "of", f.expr(node.of))
    row = f.row_of(node.of, side) or ((_word(f, side, v),) if node.deltas else f.row(side, v))
    near = f.temporary("row")
    if node.deltas:
        f.line(f"const DeltaRow<eid> {near}({row[0]}, {rows}, {v});")
    if total := sum_of(node):
        value, add, new = (f.temporary(word) for word in ("value", "add", "new"))
        t, name = type_name(total.value.type), f.local(total.name)
        f.line(f"auto {value} = [&](eid {e}, vid {u}) -> {t} {{ return {f.expr(total.value)}; }};")
        f.line(
            f"auto {add} = [&]({t} {new}) {{ {name} = {combined(total.op, name, new, total.value.type)}; }};"
        )
        f.line(f"sum_row({columns}, {near if node.deltas else ', '.join(row)}, {value}, {add});")
    elif node.deltas:
        k = f.temporary("arc")
        with f.sequential(), f.block(f"for (eid {k} = 0; {k} < {near}.count(); ++{k})"):
            f.line(f"vid {u} = {near}.neighbor({columns}, {k});")
            f.line(f"eid {e} = {near}.begin() + {k};")
            f.body(node.body)
    else:
        last = f.temporary(f"{node.edge} end")
        over_arcs(f, node, columns, f"for (eid {e} = {row[0]}, {last} = {row[1]}; {e} < {last}; ++{e})")


def over_arcs(f: Emitter, node: ir.ForNeighbors, columns: str, head: str) -> None:
    """The loop whose `head` counts arcs: with the vertex at the other end and, if a block may go on there, its row."""
    region, u = f.region, f.local(node.vertex)
    with f.sequential(), f.block(head):
        f.line(f"vid {u} = fixed(&{columns}[{f.local(node.edge)}]);")
        if region is not None and region.ahead and own_arcs(node, region.vertex, region.side):
            hops.far_end(f, region.ahead, node)
        if f.crew and f.loops:
            crew.far_end(f, node)
        f.body(node.body)
        f.soon.pop(node.vertex, None)


def _word(f: Emitter, side: str, v: str) -> str:
    return f"fixed(&{f.array(f'{DELTAS[side].key()}.words')}[{v}])"


# --- the next vertex of a thread ------------------------------------------------------------------------------------


def read_ahead(
    f: Emitter, node: ir.ParFor | ir.BucketLoop, region: Region, count: str
) -> tuple[ir.Body, Callable[[str], None]]:
    """Declare what is read ahead in a loop over the arcs of all vertices, and read it for the first vertex.

    The body without it, and what takes it over for the vertex at hand, whose place it is given, and reads on. What
    others may write meanwhile is read in a relaxed order, and not ahead.
    """
    own = [n for n in loops_over_arcs(node.body) if own_arcs(n, node.vertex)]
    over_all = isinstance(node, ir.ParFor) and isinstance(node.domain, ir.Vertices | ir.VertexWords)
    if not (own and over_all):
        return node.body, lambda i: None
    here = ir.Var(node.vertex, VID)
    read, kept = list[tuple[str, str, str]](), list[ir.Stmt]()
    for at, stmt in enumerate(node.body):  # noqa: B007 (used behind the loop)
        match stmt:
            case ir.Let(value=ir.Load(index=index, prop=prop, order=ir.Order.PLAIN)) if index == here:
                place = f"{f.prop(prop)}[i]"
                text = place if prop in f.written else f"fixed(&{place})"
                read.append((type_name(stmt.type), f.local(stmt.name), text))
            case ir.Let(value=ir.Const()):
                kept.append(stmt)
            case _:
                break
    walked = {(n.orientation, n.deltas) for n in walk_body(node.body) if isinstance(n, ir.ForNeighbors)}
    for n in own:
        side = n.orientation.value
        if side not in region.rows and (n.orientation, not n.deltas) not in walked:
            texts = (_word(f, side, "i"),) if n.deltas else f.row(side, "i")
            kind, hints = ("u64", ("word",)) if n.deltas else ("eid", ("begin", "end"))
            region.rows[side] = tuple(map(f.temporary, hints))
            read += [(kind, x, text) for x, text in zip(region.rows[side], texts, strict=True)]
    names = [f.temporary(f"{name} next") for _, name, _ in read]
    for (kind, _, _), x in zip(read, names, strict=True):
        f.line(f"{kind} {x} = {kind}();")
    look = f.temporary("look")
    loads = " ".join(f"{x} = {text};" for (_, _, text), x in zip(read, names, strict=True))
    f.line(f"auto {look} = [&](i64 i) {{ if (i < {count}) {{ {loads} }} }};")
    f.line(f"{look}(thread_number());")
    taken = " ".join(f"{kind} {name} = {x};" for (kind, name, _), x in zip(read, names, strict=True))
    return (*kept, *node.body[at:]), lambda i: f.line(f"{taken} {look}({i} + num_threads());")

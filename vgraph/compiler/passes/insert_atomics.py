"""`insert-atomics`: mark what threads may do to the same place in one parallel loop.

A write is atomic unless the loop's own vertex is the only place at which the loop writes the property. Reads of a
property that the loop writes at other vertices are relaxed. Where vertices are cut, even the loop's own is shared.
What goes through a pipeline's channel is plain: the channel orders it. With one thread everything is plain, as are
copies that each thread has for itself, what a visit has acquired, and values of edges that a loop only stores: no other
iteration comes to them.
"""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.ir.rewrite import Context, Pass
from vgraph.compiler.types import is_long

_Loop = ir.ParFor | ir.Pipeline | ir.BucketLoop
_WRITES = (ir.Reduce, ir.Store, ir.CompareAndSwap)


def _is_vertex(loop: _Loop, index: ir.Expr) -> bool:
    return isinstance(index, ir.Var) and index.name == loop.vertex


def _own(loop: _Loop, index: ir.Expr) -> bool:
    """Whether no other thread visits `index`; an entry of a bucket may stand there twice."""
    whole = isinstance(loop, ir.Pipeline) or (
        isinstance(loop, ir.ParFor) and loop.cut is None and loop.domain.apart
    )
    return whole and _is_vertex(loop, index)


def _between_lanes(loop: _Loop, n: ir.Reduce) -> bool:
    """Whether the lanes that share a vertex may meet: what they reduce into it in registers is combined first."""
    shared = not isinstance(loop, ir.Pipeline) and loop.lanes is not ir.Lanes.THREAD
    return shared and is_long(n.value.type)


def _alone(loop: _Loop, n: ir.Node, foreign_writes: set[str]) -> ir.Node | None:
    """Where the loop has all arcs of its vertex, that is its own after all."""
    if not isinstance(n, ir.Reduce) or _between_lanes(loop, n):
        return None
    if _is_vertex(loop, n.index) and n.prop not in foreign_writes:
        return ir.with_fields(n, {"atomic": False})
    return None


def _mark(loop: _Loop, copies: frozenset[str], of_edges: frozenset[str]) -> _Loop:
    accesses = [n for n in ir.walk(loop) if isinstance(n, (*_WRITES, ir.Load))]
    alone = copies | (of_edges - {n.prop for n in accesses if isinstance(n, ir.Reduce)})
    locked = any(isinstance(n, ir.Lock) for n in ir.walk(loop))
    held = {n.prop for n in accesses if isinstance(n, ir.Load | ir.Store) and n.order is ir.Order.HELD}
    if held:
        alone |= held
    elif locked or (isinstance(loop, ir.ParFor) and isinstance(loop.domain, ir.PlannedArcs)):
        alone |= {n.prop for n in accesses}  # no activation meets another
    nodes = [n for n in ir.walk(loop) if not (isinstance(n, (*_WRITES, ir.Load)) and n.prop in alone)]
    channel = loop.buffers if isinstance(loop, ir.Pipeline) else ()
    written = {n.prop for n in nodes if isinstance(n, _WRITES) and n.prop not in channel}
    elsewhere = {n.prop for n in nodes if isinstance(n, _WRITES) and not _own(loop, n.index)}
    foreign_writes = {n.prop for n in nodes if isinstance(n, _WRITES) and not _is_vertex(loop, n.index)}
    owns_words = isinstance(loop, ir.ParFor) and loop.lanes is ir.Lanes.THREAD and loop.domain.words
    foreign = {
        n.prop for n in nodes if isinstance(n, ir.Load) and n.prop in written and not _own(loop, n.index)
    }

    def rule(n: ir.Node) -> ir.Node | None:
        match n:
            case ir.Load(prop=prop) | ir.Store(prop=prop) if prop in channel:
                return None
            case ir.Reduce(prop=prop) if prop in elsewhere or _between_lanes(loop, n):
                return ir.with_fields(n, {"atomic": True})
            case ir.CompareAndSwap(prop=prop):
                return ir.with_fields(n, {"atomic": prop in elsewhere})
            case ir.Store(prop=prop) if prop in foreign or (prop in elsewhere and _swapped(nodes, prop)):
                return ir.with_fields(n, {"order": ir.Order.RELAXED})
            case ir.Load(prop=prop, index=index) if prop in foreign and not _own(loop, index):
                return ir.with_fields(n, {"order": ir.Order.RELAXED})
            case ir.Load(prop=prop) if prop in elsewhere:
                return ir.with_fields(n, {"order": ir.Order.RELAXED})
            case ir.FrontierPush(vertex=vertex, layout=layout):
                alone = not locked and _own(loop, vertex) and (layout is ir.Layout.SPARSE or owns_words)
                return ir.with_fields(n, {"atomic": not alone})
            case ir.If(condition=ir.Piece(share=ir.Share.WHOLE), then=then):
                return ir.with_fields(
                    n, {"then": ir.transform_body(then, lambda m: _alone(loop, m, foreign_writes))}
                )
        return None

    return ir.transform(loop, rule)


def _swapped(nodes: list[ir.Node], prop: str) -> bool:
    return any(isinstance(n, ir.CompareAndSwap | ir.Reduce) and n.prop == prop for n in nodes)


def _relaxed(n: ir.Node) -> ir.Node | None:
    return ir.with_fields(n, {"order": ir.Order.RELAXED}) if isinstance(n, ir.Load) else None


def _plain(n: ir.Node) -> ir.Node | None:
    if isinstance(n, ir.CompareAndSwap | ir.FrontierPush):
        return ir.with_fields(n, {"atomic": False})
    return None


def _run(program: ir.Program, context: Context) -> ir.Program:
    if context.threads == 1:
        return ir.with_fields(ir.transform(program, _plain), {"threads": 1})

    copies, of_edges = (
        frozenset(p.name for p in program.properties if p.site is site)
        for site in (ir.Site.THREAD, ir.Site.NUMBERED)
    )

    def rule(n: ir.Node) -> ir.Node | None:
        return _mark(n, copies, of_edges) if isinstance(n, _Loop) else None

    buckets = tuple(ir.transform(b, _relaxed) for b in program.buckets)
    return ir.with_fields(program, {"body": ir.transform_body(program.body, rule), "buckets": buckets})


insert_atomics = Pass("insert-atomics", _run, takes=ir.Level.KERNEL, gives=ir.Level.KERNEL)

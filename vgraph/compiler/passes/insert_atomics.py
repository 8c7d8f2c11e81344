"""`insert-atomics`: mark what threads may do to the same place in one parallel loop.

A write is atomic unless the loop's own vertex is the only place at which the loop writes the property. Reads of a
property that the loop writes at other vertices are relaxed. Where vertices are cut, even the loop's own is shared.
What goes through a pipeline's channel is plain: the channel orders it. With one thread everything is plain, as are
copies that each thread has for itself.
"""

from __future__ import annotations

from vgraph.compiler.ir import (
    BucketLoop,
    CompareAndSwap,
    Expr,
    FrontierPush,
    If,
    Lanes,
    Layout,
    Level,
    Load,
    Node,
    Order,
    ParFor,
    Piece,
    Pipeline,
    Program,
    Reduce,
    Share,
    Site,
    Store,
    Var,
)
from vgraph.compiler.rewrite import Context, Pass, transform, transform_body, walk, with_fields

_Loop = ParFor | Pipeline | BucketLoop
_WRITES = (Reduce, Store, CompareAndSwap)


def _is_vertex(loop: _Loop, index: Expr) -> bool:
    return isinstance(index, Var) and index.name == loop.vertex


def _own(loop: _Loop, index: Expr) -> bool:
    """Whether no other thread visits `index`; an entry of a bucket may stand there twice."""
    whole = isinstance(loop, Pipeline) or (isinstance(loop, ParFor) and loop.cut is None)
    return whole and _is_vertex(loop, index)


def _alone(loop: _Loop, n: Node, foreign_writes: set[str]) -> Node | None:
    """Where the loop has all arcs of its vertex, that is its own after all."""
    if isinstance(n, Reduce) and _is_vertex(loop, n.index) and n.prop not in foreign_writes:
        return with_fields(n, {"atomic": False})
    return None


def _mark(loop: _Loop, copies: frozenset[str]) -> _Loop:
    nodes = [n for n in walk(loop) if not (isinstance(n, (*_WRITES, Load)) and n.prop in copies)]
    channel = loop.buffers if isinstance(loop, Pipeline) else ()
    written = {n.prop for n in nodes if isinstance(n, _WRITES) and n.prop not in channel}
    elsewhere = {n.prop for n in nodes if isinstance(n, _WRITES) and not _own(loop, n.index)}
    foreign_writes = {n.prop for n in nodes if isinstance(n, _WRITES) and not _is_vertex(loop, n.index)}
    owns_words = (
        isinstance(loop, ParFor)
        and loop.lanes is Lanes.THREAD
        and (loop.words or loop.layout is Layout.BITMAP)
    )
    foreign = {n.prop for n in nodes if isinstance(n, Load) and n.prop in written and not _own(loop, n.index)}

    def rule(n: Node) -> Node | None:
        match n:
            case Load(prop=prop) | Store(prop=prop) if prop in channel:
                return None
            case Reduce(prop=prop) if prop in elsewhere:
                return with_fields(n, {"atomic": True})
            case CompareAndSwap(prop=prop):
                return with_fields(n, {"atomic": prop in elsewhere})
            case Store(prop=prop) if prop in foreign or (prop in elsewhere and _swapped(nodes, prop)):
                return with_fields(n, {"order": Order.RELAXED})
            case Load(prop=prop, index=index) if prop in foreign and not _own(loop, index):
                return with_fields(n, {"order": Order.RELAXED})
            case Load(prop=prop) if prop in elsewhere:
                return with_fields(n, {"order": Order.RELAXED})
            case FrontierPush(vertex=vertex, layout=layout):
                alone = _own(loop, vertex) and (layout is Layout.SPARSE or owns_words)
                return with_fields(n, {"atomic": not alone})
            case If(condition=Piece(share=Share.WHOLE), then=then):
                return with_fields(
                    n, {"then": transform_body(then, lambda m: _alone(loop, m, foreign_writes))}
                )
        return None

    return transform(loop, rule)


def _swapped(nodes: list[Node], prop: str) -> bool:
    return any(isinstance(n, CompareAndSwap | Reduce) and n.prop == prop for n in nodes)


def _relaxed(n: Node) -> Node | None:
    return with_fields(n, {"order": Order.RELAXED}) if isinstance(n, Load) else None


def _plain(n: Node) -> Node | None:
    if isinstance(n, CompareAndSwap | FrontierPush):
        return with_fields(n, {"atomic": False})
    return None


def _run(program: Program, context: Context) -> Program:
    if context.threads == 1:
        return with_fields(transform(program, _plain), {"threads": 1})

    copies = frozenset(p.name for p in program.properties if p.site is Site.THREAD)

    def rule(n: Node) -> Node | None:
        return _mark(n, copies) if isinstance(n, _Loop) else None

    buckets = tuple(transform(b, _relaxed) for b in program.buckets)
    return with_fields(program, {"body": transform_body(program.body, rule), "buckets": buckets})


insert_atomics = Pass("insert-atomics", _run, takes=Level.KERNEL, gives=Level.KERNEL)

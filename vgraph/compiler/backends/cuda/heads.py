"""Lists that are compared with a marked one, walked by their heads: `graph/layouts/heads.py`, `marks.cuh`."""

from __future__ import annotations

from collections.abc import Iterator

from vgraph.compiler import ir
from vgraph.compiler.analysis.lanes import carried, compared_with, ends_walk, leaves, loops_below
from vgraph.compiler.backends.cuda.emitter import Emitter, Marked, Place, Region
from vgraph.compiler.backends.cuda.statements import COUNTED, OPERATIONS, addend
from vgraph.compiler.backends.cuda.texts import constant
from vgraph.compiler.backends.scan import walk_body
from vgraph.compiler.ir.reductions import neutral
from vgraph.compiler.ir.trees import walk
from vgraph.compiler.types import Scalar
from vgraph.graph.layouts.heads import EIGHT, HEADS

Loop = ir.ParFor | ir.BucketLoop


def marking(loop: Loop) -> list[ir.ForNeighbors]:
    """The loops of a parallel loop for which a list is marked."""
    return [n for n in walk_body(loop.body) if isinstance(n, ir.ForNeighbors) and n.marks is not None]


def counted(loop: Loop) -> list[str]:
    """What is counted at common neighbors, and has counters in shared memory."""
    common = [n for m in marking(loop) for n in walk_body(m.body) if isinstance(n, ir.ForCommon)]
    reductions = [n for c in common for n in walk_body(c.body) if isinstance(n, ir.Reduce)]
    return sorted({n.prop for n in reductions if addend(n) in COUNTED})


def most_counted(f: Emitter, loop: Loop) -> str:
    """What one counter may have to hold: each arc is walked once, and a vertex may be common to its ends."""
    common = [n for m in marking(loop) for n in walk_body(m.body) if isinstance(n, ir.ForCommon)]
    once = {id(n) for m in marking(loop) for n in loops_below(m)}
    if any(id(n) not in once for n in common):
        return "~0ull"
    added = [addend(n) or 0 for c in common for n in walk_body(c.body) if isinstance(n, ir.Reduce)]
    return f"{sum(added)} * (u64){f.names.of('size', 'num_arcs')}"


def walked(node: ir.ForNeighbors, vertex: str) -> ir.Orientation:
    """The side of the first list that is compared with the one marked for `node`."""
    assert node.marks is not None
    compared = (compared_with(n, vertex, node.marks) for n in walk(node))
    return next(found[1] for found in compared if found is not None)


def keys(loop: Loop) -> Iterator[str]:
    """The layouts that a loop walks."""
    for node in marking(loop):
        if count := max((n.hubs for n in walk(node) if isinstance(n, ir.ForCommon)), default=0):
            yield HEADS[walked(node, loop.vertex).value].key(count, len(counted(loop)))


def key_of(node: ir.ForNeighbors, region: Region) -> str:
    """The layout of the lists that are walked for `node`; empty where they are read from CSR."""
    count = max((n.hubs for n in walk(node) if isinstance(n, ir.ForCommon)), default=0)
    return HEADS[walked(node, region.vertex).value].key(count, len(region.counters)) if count else ""


def width(f: Emitter, key: str) -> str:
    """The first id that is in no head."""
    return f.names.of("prepared", f"{key}.width")


def emit_arcs(
    f: Emitter, node: ir.ForNeighbors, region: Region, marks: str, key: str, begin: str, end: str
) -> None:
    """The loop over the arcs of the visit, of which each four lanes of a warp take one, if that is not to be seen."""
    side = node.marks
    assert side is not None
    sums = None if leaves(node.body) else carried(node)
    heads, arcs, part = (f.temporary(hint) for hint in ("heads", "arcs", "part"))
    starts, ids, tails = (f.array(f"{key}.{name}") for name in ("starts", "ids", "tails"))
    f.line(f"Heads<eid> {heads} = {{{starts}, {ids}, {tails}, (u32){width(f, key)}}};")
    f.line(f"{'decltype(lanes)' if sums is None else 'typename Quads<decltype(lanes)>::Lanes'} {part};")
    columns = f.array(f"{node.orientation.value}.column_indices")
    given = f"lanes, {columns}, {heads}, {begin}, {end}"
    f.line(f"HeadArcs<decltype(lanes), decltype({part}), eid, vid> {arcs}({given});")
    for name, (op, t) in (sums or {}).items():
        if t is not None:
            nothing = constant(neutral(op, t), t, f.program.target)
            f.line(f"if ({arcs}.part()) {f.local(name)} = {nothing};")
    with f.sequential(), f.block(f"for (; {arcs}.more(); {arcs}.next())"):
        f.line(f"if (!{arcs}.there) continue;")
        f.line(f"auto lanes = {part};")
        f.line(f"eid {f.local(node.edge)} = {arcs}.edge();")
        f.line(f"vid {f.local(node.vertex)} = {arcs}.vertex;")
        other = walked(node, region.vertex)
        region.marks = Marked(region.vertex, side, marks, node.vertex, other, arcs, heads)
        f.body(node.body)
        region.marks = None
    for name, (op, _) in (sums or {}).items():
        f.line(f"{f.local(name)} = {arcs}.template together<{OPERATIONS[op]}>({f.local(name)});")


def emit_walk(f: Emitter, node: ir.ForCommon, marked: Marked) -> None:
    """The lanes walk the head of the other list in turn, eight ids each, and do the body for those that are marked."""
    w, guard = f.local(node.vertex), ends_walk(node)
    at, eight, hits, j = (f.temporary(hint) for hint in ("at", "eight", "hits", "k"))
    body = node.body if guard is None else node.body[1:]
    whole = guard is None and not _leaves_out(body)
    together = tuple(s for s in body if whole and (_is_counted(s) or _has_counter(f, s, node)))
    arcs, heads = marked.arcs, marked.heads
    f.line(f"Eight {eight} = {arcs}.first;")
    head = f"for (u32 {at} = {arcs}.from + lanes.rank(); {at} < {arcs}.to;)"
    with f.at(Place.THREAD), f.block(head):
        f.line(f"u32 {hits} = {marked.name}.among({eight}, {heads}.width);")
        for s in together:
            if isinstance(s, ir.Accumulate):
                t = f.expr(s.value)
                f.line(
                    f"{f.local(s.name)} = add({f.local(s.name)}, mul({t}, (decltype({t}))__popc({hits})));"
                )
            else:
                assert isinstance(s, ir.Reduce)
                assert f.region is not None
                k = f.region.counters.index(s.prop)
                given = f"{f.region.shelf}, {k}, {f.prop(s.prop)}, {eight}, {hits}, {addend(s)}u"
                f.line(f"count({given});")
        rest = tuple(s for s in body if s not in together)
        if rest or guard is not None:
            f.line("#pragma unroll")
            with f.sequential(), f.block(f"for (u32 {j} = 0; {j} < {EIGHT}; ++{j})"):
                f.line(f"if (!({hits} >> {j} & 1)) continue;")
                f.line(f"vid {w} = {eight}.id({j});")
                if guard is not None:
                    f.line(f"if ({f.expr(guard)}) break;")
                f.common += 1
                f.body(rest)
                f.common -= 1
        f.line(f"if ({eight}.id({EIGHT - 1}) > {marked.name}.last) break;")
        f.line(f"{at} += lanes.size;")
        f.line(f"if ({at} < {arcs}.to) {eight} = {heads}.eight({at});")


def _is_counted(s: ir.Stmt) -> bool:
    """Whether a statement adds the same whole number for each common neighbor."""
    if not (isinstance(s, ir.Accumulate) and s.op == "+" and isinstance(s.value, ir.Const)):
        return False
    return isinstance(s.value.type, Scalar) and not s.value.type.is_float


def _has_counter(f: Emitter, s: ir.Stmt, node: ir.ForCommon) -> bool:
    """Whether a statement counts at the common neighbor, in shared memory."""
    if not (isinstance(s, ir.Reduce) and f.region is not None and s.prop in f.region.counters):
        return False
    here = isinstance(s.index, ir.Var) and s.index.name == node.vertex
    return here and s.changed is None and addend(s) in COUNTED


def _leaves_out(body: ir.Body) -> bool:
    """Whether what stands behind a statement may be left out."""
    return any(isinstance(n, ir.Continue | ir.Break) for n in walk_body(body))

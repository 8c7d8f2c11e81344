"""What all threads of the grid enter together: parallel loops, `single`, barriers, and global reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from vgraph.compiler import ir
from vgraph.compiler.analysis import placement as part
from vgraph.compiler.analysis.lanes import shared_loops, side_of
from vgraph.compiler.backends.cuda import crew, heads, hops
from vgraph.compiler.backends.cuda.emitter import Emitter, Place, Region, written_properties
from vgraph.compiler.backends.cuda.expressions import combined
from vgraph.compiler.backends.cuda.plans import by_plan
from vgraph.compiler.backends.cuda.rows import read_ahead
from vgraph.compiler.backends.cuda.slices import by_slices
from vgraph.compiler.backends.cuda.stages import claim_guard
from vgraph.compiler.backends.cuda.statements import OPERATIONS
from vgraph.compiler.backends.cuda.texts import constant, type_name
from vgraph.compiler.backends.scan import reductions, walk_body
from vgraph.compiler.ir.reductions import neutral
from vgraph.compiler.types import Vector, element_of

MARK_BYTES: Final = 1 << 20
"""Shared memory that a loop with marks would like: all there is."""
HUB_PIECE: Final = 4096
"""Vertices with more arcs are shared by the whole grid where a loop is cut into equal shares."""


# --- the end of a region -----------------------------------------------------------------------------------------


def open_region(f: Emitter, body: ir.Body, region: Region) -> None:
    """Declare what the threads add up until the barrier."""
    f.region = region
    region.written = written_properties(body)
    region.read = frozenset(n.prop for n in walk_body(body) if isinstance(n, ir.Load))
    loops = [n for n in walk_body(body) if isinstance(n, ir.ForNeighbors) and n.deltas]
    region.deltas = frozenset(n.orientation.value for n in loops)
    types = {g.name: g.type for g in f.program.globals}
    for op, name in reductions(body):
        variable = region.partials[op, name] = f.temporary(f"{name} part")
        t = types[name]
        f.line(f"{type_name(t)} {variable} = {constant(neutral(op, t), t, f.program.target)};")
    tiled = {b.name for b in f.program.buckets if b.tiles}
    for node in walk_body(body):
        if isinstance(node, ir.BucketPush) and node.buckets not in {*region.lowest, *tiled}:
            region.lowest[node.buckets] = f.temporary(f"{node.buckets} lowest")
            f.line(f"i64 {region.lowest[node.buckets]} = Limits<i64>::most();")
        if not isinstance(node, ir.FrontierPush):
            continue
        if node.layout is ir.Layout.SPARSE:
            if node.frontier not in region.queues:
                region.queues.append(node.frontier)
        elif node.frontier not in region.counts:
            region.counts[node.frontier] = f.temporary(f"{node.frontier} pushed")
            f.line(f"u64 {region.counts[node.frontier]} = 0;")


def close_region(f: Emitter, region: Region) -> None:
    """The barrier, and what becomes known to all with it."""
    f.region = None
    f.pushed = frozenset(region.queues)
    types = {g.name: g.type for g in f.program.globals}
    slots: list[str] = []
    totals: list[tuple[str, str, str, int]] = []
    for (op, name), variable in region.partials.items():
        t = types[name]
        if name in f.recorded:
            f.line(f"log.add({variable});")
            continue
        nothing = constant(neutral(op, t), element_of(t), f.program.target)
        f.line(f"team.give<{OPERATIONS[op]}>({len(slots)}, {variable}, {nothing});")
        totals.append((op, name, type_name(t), len(slots)))
        width = t.length if isinstance(t, Vector) else 1
        slots += [f"Slot<{OPERATIONS[op]}, {type_name(element_of(t))}>"] * width
    counted = [f"{f.frontier(name)}.recount();" for name in region.queues]
    after: list[str] = []
    for frontier, variable in region.counts.items():
        f.line(f"team.give<Sum>({len(slots)}, {variable}, 0ull);")
        after.append(f"{f.frontier(frontier)}.count += (i64)team.total<Sum, u64>({len(slots)});")
        slots.append("Slot<Sum, u64>")
    for name, variable in region.lowest.items():
        f.line(f"team.give<Min>({len(slots)}, {variable}, Limits<i64>::most());")
        after.append(f"{f.buckets(name)}.recount(team.total<Min, i64>({len(slots)}));")
        slots.append("Slot<Min, i64>")
    f.slots = max(f.slots, len(slots))
    meet(f, slots, counted, after)
    for op, name, t_name, slot in totals:
        total = f"team.total<{OPERATIONS[op]}, {t_name}>({slot})"
        f.line(f"{f.global_(name)} = {combined(op, f.global_(name), total, types[name])};")


def meet(
    f: Emitter, slots: Sequence[str] = (), counted: Sequence[str] = (), after: Sequence[str] = ()
) -> None:
    """The barrier of the grid; all leave if the run is to stop. `counted` reads counters, `after` uses totals."""
    types = f"<{', '.join(slots)}>" if slots else ""
    actions = [f"[&] {{ {' '.join(lines)} }}" if lines else "Nothing()" for lines in (counted, after)]
    while actions and actions[-1] == "Nothing()":
        actions.pop()
    f.stops(f"team.meet{types}({', '.join(actions)})")


def emit_all_to_all(f: Emitter, node: ir.AllToAll) -> None:
    """`all_to_all (a) to (b) by (owners)`: into the mailboxes of the others, and a barrier; what came is in halves of
    the own ones that take turns."""
    turn = "" if node.turn is None else f" + (u32){f.expr(node.turn)}"
    ways = (f"TO_{way.upper()}{turn if way == 'turns' else ''}" for way in node.ways)
    rows = list(zip(node.outs, node.gots, ways, strict=True))
    mails = [f"mail({f.prop(out)}, {f.scan.mailboxes[got]}, {way})" for out, got, way in rows]
    if rows[0][2] == "TO_EACH":
        mails[1] = f"{mails[1][:-1]}, true)"
    f.stops(f"all_to_all(team, channel, {', '.join(mails)})")
    for _, got, way in rows:
        f.line(f"{f.prop(got)} = a.{f.prop(got)} + channel.begin({way});")


def emit_take(f: Emitter, node: ir.Take) -> None:
    """`take sources.taken of n`: one thread asks the host, between two barriers."""
    f.stops(f"take(team, channel, {f.expr(node.count)}, {f.prop(node.got)})")


def emit_barrier(f: Emitter, node: ir.Barrier) -> None:
    """`barrier`."""
    meet(f)


# --- single --------------------------------------------------------------------------------------------------------

_DESCRIPTORS: Final = (ir.FrontierSet, ir.FrontierClear, ir.FrontierSwap)


def emit_single(f: Emitter, node: ir.Single) -> None:
    """`single { ... }`: changes of frontiers are made in the descriptors of all blocks, the rest by one thread.

    Where nothing but queues changed hands behind a parallel loop, every block does that for itself: no barrier. (Not if
    the loop pushed to others as well: all blocks must have counted those before one of them pushes more.) Nor does what
    one thread writes and sends.
    """
    named = {n for s in node.body for n in _names(s)}
    quick = (
        f.fresh
        and f.pushed <= named
        and all(
            isinstance(s, ir.FrontierSwap)
            or (isinstance(s, ir.FrontierClear) and s.layout is ir.Layout.SPARSE)
            for s in node.body
        )
    ) or _only_sent(f, node)
    region = Region()
    open_region(f, node.body, region)
    chunk: list[ir.Stmt] = []

    def flush() -> None:
        if chunk:
            with f.block("if (team.first())"), f.at(Place.SINGLE):
                f.body(tuple(chunk))
            chunk.clear()

    wrote = False
    for stmt in node.body:
        if isinstance(stmt, _DESCRIPTORS):
            flush()
            if wrote and any(isinstance(n, ir.Load) for n in walk_body((stmt,))):
                meet(f)
            _descriptor(f, stmt)
        else:
            chunk.append(stmt)
            wrote = True
    flush()
    if quick and not region.partials:
        f.region = None
        return
    close_region(f, region)


def _only_sent(f: Emitter, node: ir.Single) -> bool:
    """Whether nobody else looks at what one thread writes before an exchange: it sends that by itself."""

    def sent(n: ir.Stmt) -> bool:
        return isinstance(n, ir.Store) and part.way_of(n.prop) == ("to", "all")

    def fills(n: ir.Stmt) -> bool:
        return isinstance(n, ir.Single) or (isinstance(n, ir.ParFor) and isinstance(n.domain, ir.Listed))

    then = next((n for n in f.rest if not fills(n)), None)
    return isinstance(then, ir.AllToAll) and all(map(sent, node.body))


def _names(s: ir.Stmt) -> set[str]:
    """The queues that a change of descriptors leaves with another counter."""
    return {s.left, s.right} if isinstance(s, ir.FrontierSwap) else set()


def _descriptor(f: Emitter, stmt: ir.Stmt) -> None:
    saved, f.region = f.region, None
    if isinstance(stmt, ir.FrontierClear) and stmt.layout is ir.Layout.SPARSE:
        f.line(f"renew(team, {f.frontier(stmt.frontier)});")
    else:
        f.table[type(stmt)](f, stmt)
    f.region = saved


# --- parallel loops ------------------------------------------------------------------------------------------------


def emit_parfor(f: Emitter, node: ir.ParFor) -> None:
    """`parfor`: the vertices, or pieces of them, are shared among all threads of the grid."""
    walk = DOMAINS[type(node.domain)]
    ahead = crew.early_loop(node, f.rest) if f.crew else None
    f.line("")
    if ahead is not None:
        f.early[id(ahead)] = f.temporary("few")
        f.line(f"Few<vid, eid> {f.early[id(ahead)]};")
    with f.block("", f"}}{f'  // {node.label}' if node.label else ''}"):
        region = Region(vertex=node.vertex)
        open_region(f, node.body, region)
        scratch = [n.prop for n in walk_body(node.body) if isinstance(n, ir.ScratchClear)]
        if scratch:
            _by_workers(f, node, walk.range(f, node.domain), list(dict.fromkeys(scratch)))
        elif node.cut is not None or node.lanes is not ir.Lanes.THREAD:
            balanced(f, node, region, walk.range(f, node.domain))
        else:
            walk.emit(f, node, region)
        if ahead is not None:
            crew.look_up(f, ahead, walk.range(f, ahead.domain))
        close_region(f, region)


def _position(f: Emitter, node: ir.ParFor | ir.BucketLoop, value: str) -> None:
    if isinstance(node, ir.ParFor) and node.position is not None:
        f.line(f"i64 {f.local(node.position)} = {value};")


# --- a thread per vertex ---------------------------------------------------------------------------------------------


def by_threads(
    f: Emitter, node: ir.ParFor | ir.BucketLoop, size: str, vertex: Callable[[str], str], first: str = ""
) -> None:
    """A thread per item: `vertex` gives the text of what item i is, of those from `first` on."""
    i = f.temporary("place")
    assert f.region is not None
    body, take = read_ahead(f, node, f.region, size)
    begin = f"{first} + thread_number()" if first else "thread_number()"
    with f.block(f"for (i64 {i} = {begin}; {i} < {size}; {i} += num_threads())"):
        f.line(f"vid {f.local(node.vertex)} = {vertex(i)};")
        _position(f, node, i)
        take(i)
        f.visit(body, "continue")


def _vertices(f: Emitter, node: ir.ParFor, region: Region) -> None:
    by_threads(f, node, f.num_vertices, lambda i: f"(vid){i}")


def _queue(f: Emitter, node: ir.ParFor, region: Region) -> None:
    assert isinstance(node.domain, ir.Members)
    queue = f.frontier(node.domain.frontier)
    by_threads(f, node, f"{queue}.count", lambda i: f"{queue}.queue[{i}]")


def _listed(f: Emitter, node: ir.ParFor, region: Region) -> None:
    assert isinstance(node.domain, ir.Listed)
    array, start, stop = f.prop(node.domain.array), node.domain.start, node.domain.stop
    size = f.expr(stop) if stop is not None else f.names.of("length", node.domain.array)
    first = f.expr(start) if start is not None else ""
    by_threads(f, node, size, lambda i: f"fixed(&{array}[{i}])", first)


def _by_lanes(f: Emitter, node: ir.ParFor, region: Region) -> None:
    """A thread per vertex, a warp at 32 in a row: it writes bitmap words of its own vertices without atomics."""
    i, n = f.temporary("place"), f.num_vertices
    v = f.local(node.vertex)
    for push in _own_pushes(node):
        region.own[push] = f.temporary(f"{push} mine")
    body, take = read_ahead(f, node, region, n)
    with f.block(f"for (i64 {i} = thread_number(); {i} < round_up({n}); {i} += num_threads())"):
        f.line(f"vid {v} = (vid){i};")
        _position(f, node, i)
        take(i)
        for flag in region.own.values():
            f.line(f"bool {flag} = false;")
        inside = f"{i} < {n}"
        if isinstance(node.domain, ir.BitmapMembers):
            inside += f" && {f.frontier(node.domain.frontier)}.contains({v})"
        with f.block(f"if ({inside}) do", "} while (false);"):
            f.visit(body, "break")
        if region.own:
            f.line("__syncwarp();")
        for frontier, flag in region.own.items():
            f.line(f"{region.counts[frontier]} += {f.frontier(frontier)}.set_lanes({v}, {flag});")


def _own_pushes(node: ir.ParFor) -> list[str]:
    """Bitmaps that a loop pushes only its own vertices to, without atomics."""
    pushes = [n for n in walk_body(node.body) if isinstance(n, ir.FrontierPush)]
    names = dict.fromkeys(p.frontier for p in pushes if p.layout is ir.Layout.BITMAP)

    def own(p: ir.FrontierPush) -> bool:
        return not p.atomic and isinstance(p.vertex, ir.Var) and p.vertex.name == node.vertex

    return [name for name in names if all(own(p) for p in pushes if p.frontier == name)]


# --- several threads per vertex --------------------------------------------------------------------------------------


def _by_workers(f: Emitter, node: ir.ParFor, domain: str, scratch: list[str]) -> None:
    """As many threads as there are copies of the scratch memory, one of a warp."""
    i, range_ = f.temporary("place"), f.temporary("range")
    with f.block("if (lane() == 0 && warp_number() < a.workers)"):
        for prop in scratch:
            t, n = type_name(f.program.property(prop).type), f.num_vertices
            mine = f" + {n} * warp_number();"
            f.line(f"{t}* {f.names.of('scratch', prop)} = {f.names.of('scratches', prop)}{mine}")
            f.line(f"vid* {f.names.of('touched', prop)} = {f.names.of('all touched', prop)}{mine}")
            f.line(f"u64 {f.names.of('noted', prop)} = 0;")
        f.line(f"auto {range_} = {domain};")
        with f.block(f"for (i64 {i} = warp_number(); {i} < {range_}.count; {i} += workers_of(a.workers))"):
            f.line(f"if (!{range_}.has({i})) continue;")
            f.line(f"vid {f.local(node.vertex)} = {range_}[{i}];")
            _position(f, node, i)
            with f.block("do", "} while (false);"):
                f.visit(node.body, "break")


def balanced(f: Emitter, node: ir.ParFor | ir.BucketLoop, region: Region, domain: str) -> None:
    """The body as a function of a piece, and a balancer that calls it."""
    region.shared = shared_loops(node)
    region.side, region.pieces = side_of(node), True
    guard = claim_guard(node)
    assert region.side is not None
    assert region.shared or node.cut is not None, (
        "lanes cannot share these loops, nor have pieces of their own"
    )
    rows = f.array(f"{region.side.value}.row_offsets")
    v = f.local(node.vertex)
    if node.hops > 1:
        region.ahead = hops.ahead_of(f, node, region.side)
        hops.declare(f, region.ahead)
    _take_shelf(f, node, region)
    boxes = _open_boxes(f, region) if node.limit is not None and not region.ahead else []
    carried = hops.parameter(f, region.ahead) if region.ahead else ""
    head = f"[&](auto lanes, i64 place, vid {v}, eid begin, eid end, bool whole, bool first{carried})"
    with f.block(f"auto visit = {head}", "};"):
        if region.shared:
            _position(f, node, "place")
            f.visit(node.body, "return", Place.GROUP)
        else:
            f.line("if (lanes.size > 1) whole = false;  // every lane has a piece of its own")
            f.line("if (!lanes.leads()) first = false;")
            _position(f, node, "place")
            f.visit(node.body, "return")
    if region.ahead:
        hops.balance(f, node, region.ahead, domain)
        return
    call = "visit"
    if boxes:
        sends = " ".join(f"{box}.send(32);" for box in boxes)
        f.line(f"auto sending = settling(visit, [&] {{ {sends} }});")
        call = "sending"
    hubs = f.names.of("workspace", "vg.hubs")
    if node.limit is not None and guard:
        with f.block(f"auto open = [&](vid {v}) -> bool", "};"):
            f.line(f"return {f.expr(guard)};")
        limit = f.expr(node.limit)
        f.stops(f"by_search(team, hub_turn, {domain}, {rows}, {hubs}, {limit}, open, {call})")
    elif node.limit is not None:
        limit = f.expr(node.limit)
        how = "by_marked" if region.shelf else "by_split"
        f.stops(f"{how}(team, hub_turn, {domain}, {rows}, {hubs}, {limit}, {call})")
    elif node.lanes is ir.Lanes.THREAD:
        f.stops(f"by_arcs(team, hub_turn, {domain}, {rows}, {hubs}, {HUB_PIECE}, {call})")
    elif f.crew:
        found = f", {f.early[id(node)]}" if id(node) in f.early else ""
        f.line(f"by_few({domain}, {rows}, {call}{found});")
    else:
        f.line(f"by_{node.lanes.value}({domain}, {rows}, {call});")
    for k, prop in enumerate(region.counters):
        f.line(f"empty_counts({region.shelf}, {k}, {f.prop(prop)});")
    for box in boxes:
        f.line(f"{box}.send(1);")


def _open_boxes(f: Emitter, region: Region) -> list[str]:
    """Outboxes for the queues that the loop pushes to."""
    found: list[str] = []
    queues = [(name, [f.frontier(name)]) for name in region.queues]
    queues += [(name, [f"{f.buckets(name)}.next", f"{f.buckets(name)}.far"]) for name in region.lowest]
    for name, targets in queues:
        boxes = region.boxes[name] = [f.temporary(f"{name} box") for _ in targets]
        for box, target in zip(boxes, targets, strict=True):
            f.line(f"Outbox<{len(found)}, vid> {box}({target});")
            found.append(box)
    return found


def _take_shelf(f: Emitter, node: ir.ParFor | ir.BucketLoop, region: Region) -> None:
    """Room in shared memory for marks, and for counters of what is counted at common neighbors."""
    if not heads.marking(node):
        return
    region.shelf, f.shared = f.temporary("shelf"), max(f.shared, MARK_BYTES)
    region.counters = heads.counted(node)
    f.line(f"Shelf {region.shelf} = open_shelf({len(region.counters)}, {heads.most_counted(f, node)});")


# --- the table -------------------------------------------------------------------------------------------------------


class Walk(NamedTuple):
    """How the grid walks a domain."""

    emit: Callable[[Emitter, ir.ParFor, Region], None]
    """Whole vertices, each visited by one thread."""
    range: Callable[[Emitter, Any], str] = lambda f, _: f"every<vid>({f.num_vertices})"
    """It as a `Range` of `balance.cuh`, for balancers."""


DOMAINS: Final[dict[type[ir.Domain], Walk]] = {
    ir.Vertices: Walk(_vertices),
    ir.VertexWords: Walk(_by_lanes),
    ir.SparseMembers: Walk(_queue, lambda f, d: f"members({f.frontier(d.frontier)})"),
    ir.BitmapMembers: Walk(_by_lanes, lambda f, d: f"set_bits({f.frontier(d.frontier)}, {f.num_vertices})"),
    ir.Slices: Walk(by_slices),
    ir.PartedSlices: Walk(by_slices),
    ir.PlannedArcs: Walk(by_plan),
    ir.Listed: Walk(_listed),
}
"""How each domain is walked."""

"""One look over a kernel before it is emitted: what memory it uses, which names it assigns to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.analysis.slices import key_of
from vgraph.compiler.backends.base import ArgSlot, FrontierSlot, KernelInterface, ResultSlot
from vgraph.compiler.facts import TRANSPOSED
from vgraph.compiler.ir.reductions import one_element
from vgraph.compiler.types import Packed, Scalar, Type, element_of
from vgraph.compiler.types import Vector as VectorType
from vgraph.graph.layouts import parsed
from vgraph.graph.layouts.deltas import DELTAS
from vgraph.graph.layouts.hubs import HUBS
from vgraph.records import dataclass

COLLECTIVES: Final = (
    ir.ParFor, ir.Pipeline, ir.Single, ir.Alone, ir.Barrier, ir.Fill, ir.FrontierSet, ir.FrontierCopy, ir.FrontierClear,
    ir.FrontierSwap, ir.FrontierConvert, ir.ListClear, ir.ListAppend, ir.ListGet, ir.Fold,
    ir.BucketsClear, ir.BucketAdvance, ir.BucketLoop, ir.AllToAll, ir.Take,
)  # fmt: skip


def walk_body(body: ir.Body) -> Iterator[ir.Node]:
    """Every node of a body."""
    for stmt in body:
        yield from ir.walk(stmt)


def has_collective(body: ir.Body) -> bool:
    """Whether every thread passes a barrier in `body`, unless a branch leads around it."""
    return any(isinstance(node, COLLECTIVES) for node in walk_body(body))


_LOOPS: Final = (ir.ForNeighbors, ir.ForCommon, ir.While, ir.For)


def loop_depth(body: ir.Body) -> int:
    """How deep sequential loops are nested in `body`."""
    deepest = 0
    for stmt in body:
        if isinstance(stmt, ir.If):
            deepest = max(deepest, loop_depth(stmt.then), loop_depth(stmt.other))
        elif isinstance(stmt, _LOOPS):
            deepest = max(deepest, 1 + loop_depth(stmt.body))
    return deepest


@dataclass
class Scan:
    """What `scan` found."""

    properties: set[str] = field(default_factory=set)
    adjacency: set[str] = field(default_factory=set)
    prepared: set[str] = field(default_factory=set)
    """Keys of the layouts of arcs that are walked."""
    lengths: set[str] = field(default_factory=set)
    columns: set[str] = field(default_factory=set)
    assigned: set[str] = field(default_factory=set)
    arrays: set[str] = field(default_factory=set)
    """Locals of which single elements are assigned to."""
    layouts: dict[str, set[ir.Layout]] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
    linked: list[tuple[str, str]] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    directions: dict[str, int] = field(default_factory=dict)
    messages: dict[str, int] = field(default_factory=dict)
    scratch: set[str] = field(default_factory=set)
    channels: dict[str, int] = field(default_factory=dict)
    mailboxes: dict[str, int] = field(default_factory=dict)
    """What takes what other members of a set of devices send, numbered."""
    takes: bool = False
    slots: int = 0
    workspace: dict[str, int] = field(default_factory=dict)

    def need(self, frontier: str, layout: ir.Layout) -> None:
        """The frontier is used in this layout."""
        self.layouts[frontier].add(layout)


def scan(program: ir.Program) -> Scan:
    """Look over all statements of a kernel-level program."""
    found = Scan()
    for declaration in program.frontiers:
        found.layouts[declaration.name] = set(declaration.layouts)
        if declaration.flags:
            found.flags.add(declaration.name)
    types = {g.name: g.type for g in program.globals}
    for node in (*walk_body(program.body), *(n for b in program.buckets for n in ir.walk(b))):
        _look(node, found)
        if isinstance(node, ir.Alone):
            found.slots = max(found.slots, sum(slot_words(t) for _, _, t in written_alone(node)))
        if isinstance(node, ir.ParFor) and isinstance(node.domain, ir.Segments | ir.Slices | ir.PlannedArcs):
            found.prepared.add(key_of(node, program.target))
        elif isinstance(node, ir.ParFor) and node.cut is not None:
            _look_pieces(node, node.cut, found)
        if isinstance(node, ir.ParFor | ir.Single | ir.Pipeline | ir.BucketLoop):
            body = (*node.producer, *node.consumer) if isinstance(node, ir.Pipeline) else node.body
            found.slots = max(found.slots, sum(slot_words(types[name]) for _, name in reductions(body)))
    for result in program.results:
        if isinstance(result.value, str):
            found.properties.add(str(result.value))
    _spread(found)
    return found


def _look_pieces(node: ir.ParFor, side: ir.Orientation, found: Scan) -> None:
    """The list of hubs has two words an entry; the line of the work of a queue, one."""
    found.adjacency.add(f"{side.value}.row_offsets")
    if node.limit is not None:
        found.workspace["vg.hubs"] = 2
    elif isinstance(node.domain, ir.Members):
        found.workspace["vg.work"] = 1
        found.slots = max(found.slots, 1)


def hubs_key(side: ir.Orientation, count: int) -> str:
    """The layout that has the lists of a side with `count` hubs in front."""
    return HUBS[side.value].key(count)


def reductions(body: ir.Body) -> list[tuple[str, str]]:
    """`(op, global)` of every global reduction in a parallel loop, each once, in a fixed order."""
    return sorted({(n.op, n.name) for n in walk_body(body) if isinstance(n, ir.ReduceGlobal)})


def written_alone(node: ir.Alone) -> list[tuple[str, str, Type]]:
    """What of the driver loop's own one thread may change there: ("global" or "local", name, type)."""
    inside = {n.name for n in walk_body(node.body) if isinstance(n, ir.Let)}
    found: dict[tuple[str, str], Type] = {}
    for n in walk_body(node.body):
        match n:
            case ir.SetGlobal(name=name) | ir.ReduceGlobal(name=name):
                found["global", name] = n.value.type
            case ir.Assign(name=name) | ir.Accumulate(name=name) if name not in inside:
                found["local", name] = n.value.type
    return [(kind, name, t) for (kind, name), t in sorted(found.items())]


def slot_words(t: object) -> int:
    """8-byte words that a partial of type `t` takes."""
    if isinstance(t, VectorType):
        return max(1, -(-t.element.bits * t.length // 64))
    return 2 if isinstance(t, Packed) else 1


def _look(node: ir.Node, found: Scan) -> None:
    found.assigned |= ir.written_locals(node)
    match node:
        case ir.Assign(name=name) if one_element(node) is not None:
            found.arrays.add(name)
        case ir.Load(prop=prop) | ir.Store(prop=prop) | ir.Fill(prop=prop):
            found.properties.add(prop)
            if isinstance(node, ir.Fill):
                found.lengths.add(prop)
        case ir.ScratchLoad(prop=prop) | ir.ScratchStore(prop=prop) | ir.ScratchClear(prop=prop):
            found.scratch.add(prop)
        case ir.Fold(prop=prop, own=own) | ir.Exchange(left=prop, right=own):
            found.properties |= {prop, own}
        case (
            ir.Reduce(prop=prop)
            | ir.CompareAndSwap(prop=prop)
            | ir.Reserve(prop=prop)
            | ir.Lock(prop=prop)
            | ir.Unlock(prop=prop)
        ):
            found.properties.add(prop)
        case ir.Lookup(prop=prop, indices=indices):
            found.properties.add(prop)
            found.lengths.add(prop)
            if len(indices) > 1:
                found.columns.add(prop)
        case ir.Listed(array=array):
            found.properties.add(array)
            found.lengths.add(array)
        case ir.AllToAll(outs=outs, gots=gots):
            found.properties |= {*outs, *gots}
            for name in gots:
                found.mailboxes.setdefault(name, len(found.mailboxes))
        case ir.Take(got=got):
            found.properties.add(got)
            found.takes = True
        case ir.ArrayLength(array=array):
            found.lengths.add(array)
        case ir.ArrayColumns(array=array):
            found.columns.add(array)
        case ir.Trace(label=label, direction=direction):
            found.labels.setdefault(label, len(found.labels))
            found.directions.setdefault(direction, len(found.directions))
        case ir.Fail(message=message):
            found.messages.setdefault(message, len(found.messages))
        case _:
            _look_arcs(node, found)
            _look_frontier(node, found)


def _look_arcs(node: ir.Node, found: Scan) -> None:
    match node:
        case ir.Degree(orientation=side):
            found.adjacency.add(f"{side.value}.row_offsets")
        case ir.ForNeighbors(segments=count, planned=planned) if count > 1 or planned:
            pass  # the parallel loop around says what it walks
        case ir.ForNeighbors(orientation=side, beyond=count) if count:
            found.adjacency.add(f"{side.value}.row_offsets")
            found.prepared.add(hubs_key(side, count))
        case ir.MarkHubs() | ir.MarkedHubs() | ir.ForMarkedHubs():
            found.adjacency.add(f"{node.orientation.value}.row_offsets")
            found.prepared.add(hubs_key(node.orientation, node.hubs))
        case ir.ForNeighbors(orientation=side, deltas=True):
            found.adjacency |= {f"{side.value}.row_offsets", f"{side.value}.column_indices"}
            found.prepared.add(DELTAS[side.value].key())
        case (
            ir.Neighbor(orientation=side)
            | ir.HasNeighbor(orientation=side)
            | ir.ForNeighbors(orientation=side)
        ):
            found.adjacency |= {f"{side.value}.row_offsets", f"{side.value}.column_indices"}
        case ir.ForCommon(left_orientation=left, right_orientation=right):
            for side in (left, right):
                found.adjacency.add(f"{side.value}.row_offsets")
                if node.beyond:
                    found.prepared.add(hubs_key(side, node.beyond))
                else:
                    found.adjacency.add(f"{side.value}.column_indices")


def _look_frontier(node: ir.Node, found: Scan) -> None:
    match node:
        case ir.Members(frontier=name, layout=ir.Layout() as layout):
            found.need(name, layout)
        case ir.Pipeline(buffers=buffers, chunks=chunks):
            found.channels[buffers[0]] = chunks
            found.properties |= set(buffers)
        case ir.InFrontier(frontier=name):
            found.need(name, ir.Layout.BITMAP)
        case ir.FrontierPush(frontier=name, layout=layout, dedupe=dedupe):
            found.need(name, layout)
            if dedupe and layout is ir.Layout.SPARSE:
                found.flags.add(name)
        case ir.FrontierClear(frontier=name, layout=layout):
            found.need(name, layout)
        case ir.FrontierConvert(frontier=name):
            found.layouts[name] |= set(ir.Layout)
            found.slots = max(found.slots, 1)
        case ir.ListAppend(frontier=name):
            found.need(name, ir.Layout.SPARSE)
            found.slots = max(found.slots, 1)
        case ir.ListGet(out=name):
            found.need(name, ir.Layout.SPARSE)
        case ir.FrontierSwap(left=left, right=right):
            found.linked += [(left, right), (right, left)]
        case ir.FrontierCopy(out=out, source=source):
            found.linked.append((source, out))


def _spread(found: Scan) -> None:
    """What a frontier can hold, those must hold that it is swapped with or copied to."""
    while True:
        before = sum(map(len, found.layouts.values())) + len(found.flags)
        for source, target in found.linked:
            found.layouts[target] |= found.layouts[source]
            if source in found.flags and (target, source) in found.linked:
                found.flags.add(target)
        if sum(map(len, found.layouts.values())) + len(found.flags) == before:
            return


def needs_transpose(program: ir.Program) -> bool:
    """Whether a kernel walks in-arcs, or reads their properties, elsewhere than under a test of `graph.transposed`."""

    def bare(node: ir.Node) -> ir.Node | None:
        match node:
            case ir.If(condition=ir.Logical(op="and", left=ir.Var(name=name))) if name == TRANSPOSED:
                return ir.with_fields(node, {"then": ()})
        return None

    found = scan(ir.transform(program, bare))
    sites = {p.site for p in program.properties if p.name in found.properties}
    return ir.Site.EDGE_IN in sites or any(name.startswith("in.") for name in found.adjacency)


def describe(program: ir.Program, found: Scan) -> KernelInterface:
    """The interface of a kernel: argument slots in the order of the program's declarations."""
    target = program.target
    args: list[ArgSlot] = []
    for p in program.properties:
        if p.name in found.properties:
            length = p.type.length if isinstance(p.type, VectorType) else 1
            args.append(ArgSlot("property", p.name, target.numpy_name(element_of(p.type)), length))
        if (p.name in found.lengths and p.site is ir.Site.ARRAY) or p.name in found.channels:
            args.append(ArgSlot("length", p.name, "int64"))
        if p.name in found.columns:
            args.append(ArgSlot("columns", p.name, "int64"))
        if p.name in found.channels:
            args.append(ArgSlot("channel", p.name, "uint64", found.channels[p.name]))
    for name in sorted(found.adjacency):
        bits = target.offset_bits if name.endswith("row_offsets") else target.id_bits
        args.append(ArgSlot("adjacency", name, f"uint{bits}"))
    args += [ArgSlot("workspace", name, "uint64", words) for name, words in sorted(found.workspace.items())]
    dtypes = {"id": f"uint{target.id_bits}", "offset": f"uint{target.offset_bits}"}
    for key in sorted(found.prepared):
        layout, _ = parsed(key)
        args += [ArgSlot("prepared_number", f"{key}.{name}", "int64") for name in layout.numbers]
        args += [ArgSlot("prepared", f"{key}.{name}", dtypes.get(t, t)) for name, t in layout.arrays.items()]
    args += [ArgSlot("size", name, "int64") for name in ("num_vertices", "num_arcs")]
    for param in program.params:
        assert isinstance(param.type, Scalar)
        args.append(ArgSlot("param", param.name, target.numpy_name(param.type)))
    for p in program.properties:
        if p.name in found.scratch:
            args.append(ArgSlot("scratch", p.name, target.numpy_name(element_of(p.type))))
            args.append(ArgSlot("touched", p.name, f"uint{target.id_bits}"))
    frontiers = [
        FrontierSlot(f.name, ir.Layout.BITMAP in found.layouts[f.name], f.name in found.flags)
        for f in program.frontiers
    ]
    results = []
    for r in program.results:
        if r.kind == "scalar":
            assert isinstance(r.value, ir.Expr)
            assert isinstance(r.value.type, Scalar)
            results.append(ResultSlot(r.name, target.numpy_name(r.value.type)))
    return KernelInterface(
        args=tuple(args),
        frontiers=tuple(frontiers),
        lists=tuple(x.name for x in program.lists),
        results=tuple(results),
        num_slots=2 * found.slots,
        labels=tuple(found.labels),
        directions=tuple(found.directions),
        messages=tuple(found.messages),
        id_bits=target.id_bits,
        offset_bits=target.offset_bits,
        threads=program.threads,
        buckets=tuple(b.tiles for b in program.buckets),
        transpose=needs_transpose(program),
        mailboxes=tuple(found.mailboxes),
        joins=bool(found.mailboxes) or found.takes,
    )

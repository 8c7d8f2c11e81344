"""The backend itself: its tables, and the assembly of one kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Final

from vgraph.compiler import ir
from vgraph.compiler.abilities import CUDA, Abilities
from vgraph.compiler.analysis.lanes import side_of
from vgraph.compiler.backends.base import ArgSlot, Backend, KernelInterface, SourceText
from vgraph.compiler.backends.cuda import (
    arcs,
    buckets,
    expressions,
    frontiers,
    heads,
    lists,
    parallel,
    statements,
    tiles,
)
from vgraph.compiler.backends.cuda.crew import recorded, suits
from vgraph.compiler.backends.cuda.emitter import Emitter
from vgraph.compiler.backends.cuda.foreign import NAMESPACE, Unsupported, device_function
from vgraph.compiler.backends.cuda.layout import BUCKET_QUEUES, COUNTERS, CREW, ControlLayout
from vgraph.compiler.backends.cuda.texts import CREWED, WHOLE, WIDE, constant, type_name
from vgraph.compiler.backends.scan import Scan, describe, has_collective, scan, walk_body
from vgraph.compiler.foreign.externals import External
from vgraph.compiler.ir.handlers import handlers
from vgraph.compiler.ir.trees import driver, walk
from vgraph.compiler.types import WIDEST_WORD, Scalar, Type, element_of
from vgraph.graph.layouts import parsed
from vgraph.graph.layouts.heads import HEADS
from vgraph.graph.layouts.part_slices import PART_SLICES
from vgraph.graph.layouts.slices import OUT_SLICES, SLICES

INCLUDE: Final = Path(__file__).parent / "include"
"""The folder of the headers that every kernel includes."""

_EMITTERS: Final = expressions.PLAIN | statements.PLAIN | handlers(
    expressions, statements, arcs, parallel, frontiers, lists, buckets,
    parameters=("f", "node"), prefix="emit_",
)  # fmt: skip


class CUDABackend(Backend):
    """CUDA C++ for NVIDIA GPUs: one persistent kernel for the whole program."""

    name: ClassVar[str] = "cuda"
    abilities: ClassVar[Abilities] = CUDA
    emitters: ClassVar[dict[type[ir.Node], Callable[..., Any]]] = _EMITTERS

    def emit(self, program: ir.Program, *, deep: bool = False, narrow: bool = False) -> SourceText:
        """The text of one kernel `vg_main`; the same program gives the same text."""
        assert program.level is ir.Level.KERNEL
        found = scan(program)
        _hubs(program, found)
        interface = describe(program, found)
        f = Emitter(program, found, interface, _EMITTERS)
        f.views = lists.views(program)
        f.crew = narrow and suits(program)
        f.recorded = recorded(program) if f.crew else frozenset()
        _name_everything(f)
        buckets.declare(f)
        f.body(program.body)
        _results(f)
        interface = replace(
            interface, num_slots=max(1, f.slots), shared=f.shared, climbs=_climbs(program, interface)
        )
        if f.crew:
            interface = replace(interface, blocks=CREW)
        return SourceText(_assemble(f, interface, deep), interface)

    def refusal(self, external: External) -> str | None:
        try:
            device_function(external)
        except Unsupported as problem:
            return f"its code needs {problem}"
        return None


def _climbs(program: ir.Program, interface: KernelInterface) -> bool:
    """Whether a program unites sets, and makes no rounds."""
    loops = (n for n in driver(program.body) if isinstance(n, ir.While | ir.For))
    unites = any(arg.name == "policy.halving_vertices" for arg in interface.args)
    return unites and not any(has_collective(n.body) for n in loops)


def _hubs(program: ir.Program, found: Scan) -> None:
    """Loops that are cut keep a list of hubs, and no line of the work."""
    found.workspace.pop("vg.work", None)
    for node in walk_body(program.body):
        if not isinstance(node, ir.ParFor | ir.BucketLoop):
            continue
        if node.cut is not None and (node.hops == 1 or node.limit is not None):
            found.workspace["vg.hubs"] = 2
        if node.cut is not None or node.lanes is not ir.Lanes.THREAD:
            side = side_of(node)
            assert side is not None
            found.adjacency.add(f"{side.value}.row_offsets")
        found.prepared |= set(heads.keys(node))


def _name_everything(f: Emitter) -> None:
    """Give what the user named its own name first; helpers take what is left."""
    for p in f.program.properties:
        f.prop(p.name)
    for g in f.program.globals:
        f.global_(g.name)
    for x in f.program.frontiers:
        f.frontier(x.name)
    for param in f.program.params:
        f.local(param.name)


# --- the argument ------------------------------------------------------------------------------------------------


_ELEMENTS: Final = {
    "id": "vid", "offset": "eid", "int64": "i64", "uint64": "u64", "int32": "i32", "uint32": "u32", "uint16": "u16",
    "int16": "i16", "uint8": "u8",
}  # fmt: skip
"""C++ types of the elements of layouts."""


def _slot(f: Emitter, slot: ArgSlot) -> tuple[str, str]:
    """C++ type and name of an argument word."""
    program = f.program
    if slot.kind == "property":
        return f"{type_name(program.property(slot.name).type)}*", f.prop(slot.name)
    if slot.kind == "adjacency":
        return ("const eid*" if slot.name.endswith("row_offsets") else "const vid*"), f.array(slot.name)
    if slot.kind == "prepared":
        key, _, part = slot.name.rpartition(".")
        return f"const {_ELEMENTS[parsed(key)[0].arrays[part]]}*", f.array(slot.name)
    if slot.kind == "prepared_number":
        return "i64", f.names.of("prepared", slot.name)
    if slot.kind == "size":
        return "i64", f.names.of("size", slot.name)
    if slot.kind in ("length", "columns"):
        return "i64", f.names.of(slot.kind, slot.name)
    if slot.kind == "workspace":
        return "u64*", f.names.of("workspace", slot.name)
    if slot.kind == "scratch":
        return f"{type_name(program.property(slot.name).type)}*", f.names.of("scratches", slot.name)
    if slot.kind == "touched":
        return "vid*", f.names.of("all touched", slot.name)
    assert slot.kind == "param", slot.kind
    t = next(p.type for p in program.params if p.name == slot.name)
    return type_name(t), f.local(slot.name)


_BUCKETS: Final = ("near", "next", "far", "rest", "queued", "piled")


def _fields(f: Emitter, interface: KernelInterface) -> list[tuple[str, str]]:
    """Type and name of every word of `Args`, in the order of `layout.py`."""
    fields = [("Control*", "control"), *(_slot(f, slot) for slot in interface.args)]
    for slot in interface.frontiers:
        name = f.frontier(slot.name)
        fields += [("u64", f"{name}_{part}") for part in ("queue", "words", "flags")]
    for listed in interface.lists:
        name = f.names.of("list", listed)
        fields += [("u64", f"{name}_{part}") for part in ("ids", "starts", "room", "frontiers")]
    for queued in f.program.buckets:
        name = f.buckets(queued.name)
        fields += [("u64", f"{name}_{part}") for part in _BUCKETS]
    fields += [("u64*", "trace"), ("u64", "trace_room"), ("i64", "workers")]
    return [*fields, *([("Peers*", "channel")] if interface.joins else [])]


# --- the text ------------------------------------------------------------------------------------------------------


def _waits(n: ir.Node) -> bool:
    """Whether blocks go on with parts of vertices, or along a plan. With 64 registers for each of fewer threads core
    numbers of R-MAT of scale 22, 20, 18 and 14 take 0.95, 0.93, 0.89 and 0.97 of the time (H200)."""
    if not isinstance(n, ir.ParFor):
        return False
    return isinstance(n.domain, ir.PlannedArcs) or (n.hops > 1 and n.limit is not None)


def _assemble(f: Emitter, interface: KernelInterface, deep: bool) -> str:
    target = f.program.target
    fields = _fields(f, interface)
    layout = ControlLayout(interface)
    headed = any(parsed(key)[0] in HEADS.values() for key in f.scan.prepared)
    few = (
        deep
        or headed
        or any(b.tiles for b in f.program.buckets)
        or any(map(_waits, walk_body(f.program.body)))
    )
    resident = "1" if f.crew else "FEW_RESIDENT / BLOCK" if few else "RESIDENT / BLOCK"
    head = [
        f"// {f.program.name}: every thread of the grid runs all of it.",
        *([CREWED] if f.crew else []),
        *([WHOLE] if _whole(f) else []),
        *([WIDE] if _swaps_wide(f) else []),
        '#include "vgraph.cuh"',
        "using namespace vg;",
        f"using vid = u{target.id_bits};",
        f"using eid = u{target.offset_bits};",
        "",
        *_externals(f),
        "struct Args {",
        *(f"  alignas(8) {t} {name};" for t, name in fields),
        "};",
        "",
        f'extern "C" __global__ void {"VG_CLUSTER " if f.crew else ""}__launch_bounds__(BLOCK, {resident})',
        "vg_main(const __grid_constant__ Args a) {",
    ]
    moving = {f.prop(n.left) for n in walk_body(f.program.body) if isinstance(n, ir.Exchange)}
    moving |= {f.prop(n.right) for n in walk_body(f.program.body) if isinstance(n, ir.Exchange)}
    moving |= {f.prop(name) for name in interface.mailboxes}
    lines = [
        f"  {'auto' if name in moving else 'const auto'} {name} = a.{name};"
        for _, name in fields
        if _aliased(f, name, interface)
    ]
    lines += [f"  __shared__ Board<{interface.num_slots}> board;"]
    crew = ", true" if f.crew else ""
    lines += [f"  Team<{interface.num_slots}{crew}> team(control, (u64*)control + {layout.slots}, &board);"]
    lines += ["  Channel channel(a.channel);"] if interface.joins else []
    lines += ["  u32 hub_turn = 0;"] if "vg.hubs" in f.scan.workspace or _whole(f) else []
    lines += ["  Log log(control, a.trace, a.trace_room);"] if f.scan.labels else []
    lines += _descriptors(f, interface, layout)
    for g in f.program.globals:
        lines.append(f"  {type_name(g.type)} {f.global_(g.name)} = {_zero(f, g.type)};")
    return "\n".join([*head, *lines, "", *f.lines, "}"]) + "\n"


def _whole(f: Emitter) -> bool:
    """Whether a loop walks slices, for which blocks are large and have all the shared memory."""
    return any(parsed(key)[0] in (SLICES, OUT_SLICES, PART_SLICES) for key in f.scan.prepared)


def _swaps_wide(f: Emitter) -> bool:
    """Whether threads meet at words of 128 bits."""
    met = (n.value.type for s in f.program.body for n in walk(s) if isinstance(n, ir.Reduce) and n.atomic)
    return any(f.program.target.width(element_of(t)) == WIDEST_WORD for t in met)


def _externals(f: Emitter) -> list[str]:
    """The functions that somebody else compiled."""
    if not f.externals:
        return []
    texts = [text for _, text in sorted(f.externals.items())]
    return ['#include "foreign.cuh"', f"namespace {NAMESPACE} {{", *texts, "}", ""]


def _aliased(f: Emitter, name: str, interface: KernelInterface) -> bool:
    """Whether a word of the argument has a name of its own in the kernel."""
    own = {n for _, n in [("", "control"), *(_slot(f, s) for s in interface.args)]}
    return name in own


def _zero(f: Emitter, t: Type) -> str:
    return constant(0, t, f.program.target)


def _descriptors(f: Emitter, interface: KernelInterface, layout: ControlLayout) -> list[str]:
    """Each block's copies of the descriptors of frontiers and lists."""
    declared, opened = [], []
    for k, slot in enumerate(interface.frontiers):
        name = f.frontier(slot.name)
        declared.append(f"  __shared__ Frontier<vid> {name};")
        counters = f"(u64*)control + {layout.counters + COUNTERS * k}"
        opened.append(f"open({name}, a.{name}_queue, a.{name}_words, a.{name}_flags, {counters});")
    for listed in interface.lists:
        name = f.names.of("list", listed)
        declared.append(f"  __shared__ List<vid> {name};")
        declared += [f"  u64 {f.names.of('soon', listed)} = 0;"] if f.crew else []
        opened.append(f"{name}.open(a.{name}_ids, a.{name}_starts, a.{name}_room, a.{name}_frontiers);")
    for k, queued in enumerate(f.program.buckets):
        name = f.buckets(queued.name)
        declared.append(f"  __shared__ {'Tiles' if queued.tiles else 'Buckets'}<vid> {name};")
        counters = f"(u64*)control + {layout.buckets + COUNTERS * BUCKET_QUEUES * k}"
        counters += tiles.opening(f, queued) if queued.tiles else ""
        opened.append(f"{name}.open({', '.join(f'a.{name}_{part}' for part in _BUCKETS)}, {counters});")
    if not opened:
        return []
    return [*declared, "  team.alone([&] {", *(f"    {line}" for line in opened), "  });"]


def _results(f: Emitter) -> None:
    """One thread stores the scalar results."""
    scalars = [r.value for r in f.program.results if isinstance(r.value, ir.Expr)]
    if not scalars:
        return
    with f.block("if (team.first())"):
        for index, expr in enumerate(scalars):
            assert isinstance(expr.type, Scalar)
            word = ControlLayout.RESULTS + index
            f.line(f"*({type_name(expr.type)}*)((u64*)control + {word}) = {f.expr(expr)};")


__all__ = ["INCLUDE", "CUDABackend"]

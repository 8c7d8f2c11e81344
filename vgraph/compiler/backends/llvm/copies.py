"""Properties of which every thread has its own copy: copy `t` begins `t` times all vertices behind the first."""

from __future__ import annotations

from vgraph.compiler import ir
from vgraph.compiler.backends.llvm.emitter import Emitter
from vgraph.compiler.backends.llvm.loops import counted
from vgraph.compiler.backends.llvm.memory import combine, load_at, store_at
from vgraph.compiler.backends.llvm.parallel import barrier, my_part
from vgraph.compiler.types import Type, Vector, element_of


def find_own(f: Emitter) -> None:
    """Let the names of such properties mean this thread's copy."""
    for declared in f.program.properties:
        if declared.site is ir.Site.THREAD and declared.name in f.pointers:
            base = f.pointers[declared.name]
            f.pointers[_all(declared.name)] = base
            start = f.op(f"mul i64 {_elements(f, declared.type)}, %thread")
            f.pointers[declared.name] = f.item(f.types.memory(element_of(declared.type)), base, start)


def _all(name: str) -> str:
    return f"all {name}"


def _elements(f: Emitter, t: Type) -> str:
    """Scalars in one copy."""
    return f.op(f"mul i64 %num_vertices, {t.length}") if isinstance(t, Vector) else "%num_vertices"


def emit_fold(f: Emitter, node: ir.Fold) -> None:
    """`fold triangles += triangles.own`: each thread adds up its part of the vertices."""
    declared = f.program.property(node.prop).type
    t = element_of(declared)
    unit, elements = f.types.memory(t), _elements(f, declared)
    total = f.slot(unit, "total")
    barrier(f)
    with my_part(f, elements) as i:
        place = f.item(unit, f.pointers[node.prop], i)
        f.do(f"store {unit} {load_at(f, place, t, node.prop)}, ptr {total}")

        def add(thread: str, _: str, __: str) -> None:
            at = f.op(f"add i64 {f.op(f'mul i64 {thread}, {elements}')}, {i}")
            copy = f.item(unit, f.pointers[_all(node.own)], at)
            value = load_at(f, copy, t, node.own)
            so_far = f.op(f"load {unit}, ptr {total}")
            f.do(f"store {unit} {combine(f, '+', so_far, value, t)}, ptr {total}")
            store_at(f, copy, f.types.constant(0, t), t, node.own)

        counted(f, "0", "%num_threads", add, "copies")
        store_at(f, place, f.op(f"load {unit}, ptr {total}"), t, node.prop)
    barrier(f)

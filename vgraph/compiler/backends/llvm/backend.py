"""The backend itself: its tables, and the assembly of one module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from vgraph.compiler import ir
from vgraph.compiler.abilities import CPU, Abilities
from vgraph.compiler.backends.abi import CONTEXT, FRONTIER, LIST
from vgraph.compiler.backends.base import ENTRY, TEAM, Backend, Kernel, KernelInterface, SourceText
from vgraph.compiler.backends.llvm import (
    buckets,
    copies,
    expressions,
    forks,
    frontiers,
    hubs,
    memory,
    neighbors,
    packing,
    parallel,
    pieces,
    pipeline,
    pushes,
    scratch,
    statements,
    tiles,
)
from vgraph.compiler.backends.llvm.emitter import Binding, Emitter
from vgraph.compiler.backends.llvm.values import Value
from vgraph.compiler.backends.scan import Scan, describe, scan
from vgraph.compiler.ir.handlers import handlers
from vgraph.records import dataclass

_EMITTERS: Final = handlers(
    expressions, packing, pieces, statements, memory, scratch, copies, neighbors, hubs, parallel, pipeline, frontiers,
    pushes, buckets, tiles,
    parameters=("f", "node"), prefix="emit_",
)  # fmt: skip


@dataclass(frozen=True)
class LLVMBackend(Backend):
    """Native code for the host's CPU.

    `symbols` gives the addresses of the native runtime's functions; only loading asks for them.
    """

    symbols: Callable[[], Mapping[str, int]] | None = None

    name: ClassVar[str] = "llvm"
    abilities: ClassVar[Abilities] = CPU
    emitters: ClassVar[dict[type[ir.Node], Callable[..., Any]]] = _EMITTERS

    def emit(self, program: ir.Program, *, deep: bool = False, narrow: bool = False) -> SourceText:
        """LLVM IR of one module that defines `vg_main`, and `vg_team` if it is for more than one thread; the same
        program gives the same text."""
        assert program.level is ir.Level.KERNEL
        found = scan(program)
        return _module(program, found, describe(program, found))

    def compile(self, source: SourceText) -> bytes:
        """Object code for this machine, as `load_code` takes it."""
        from vgraph.compiler.backends.jit import compile_ir

        return compile_ir(source.text)

    def load_code(self, code: bytes, interface: KernelInterface) -> Kernel:
        """Put object code made by `compile` into memory."""
        from vgraph.compiler.backends.jit import load_kernel

        assert self.symbols is not None, "loading needs the native runtime"
        return load_kernel(code, self.symbols(), interface)


def _module(program: ir.Program, found: Scan, interface: KernelInterface) -> SourceText:
    one = Emitter(program, found, interface, _EMITTERS, serial=True)
    functions = [_function(one, ENTRY)]
    least = tuple(fork.least for fork in one.forks)
    if least:
        team = Emitter(program, found, interface, _EMITTERS, serial=False, beside=one)
        functions.append(_function(team, TEAM))
        assert least == tuple(fork.least for fork in team.forks)
        assert [(t, place) for t, _, place in team.state] == [(t, place) for t, _, place in one.state]
    if least:
        state = tuple(one.state_vertices)
        interface = replace(interface, forks=least, num_state=one.state_words, state_vertices=state)
    title = "; " + program.name.replace("\n", " ")
    parts = [
        title, *functions, *one.helpers.values(), "\n".join(sorted(one.declarations)), "\n".join(one.metadata())
    ]  # fmt: skip
    return SourceText("\n\n".join(parts) + "\n", interface)


_HEADS: Final = {
    ENTRY: "ptr noundef nonnull %ctx, i32 noundef %at",
    TEAM: "ptr noundef nonnull %ctx, i32 noundef %tid, i32 noundef %at, i32 noundef %generation",
}


def _function(f: Emitter, name: str) -> str:
    """Code for one thread, or for a team: it gives the fork point at which the other goes on, or -1."""
    _prologue(f)
    entry, place = f.block, len(f.lines)
    f.start("begin")
    f.statements(f.program.body)
    _results(f)
    f.start("exit")
    f.do("ret i32 -1")
    f.lines[place : place + 1] = forks.dispatch(f, entry)  # in place of the branch to `begin`
    head = f"define i32 @{name}({_HEADS[name]}) nounwind {{\nentry:"
    return "\n".join([head, *f.allocas, *f.entry, *f.lines, "}"])


def _prologue(f: Emitter) -> None:
    """Load arguments, find descriptors, declare globals."""
    f.allocas += ["  %turn = alloca i64", "  %last_trace = alloca i64", "  %team = alloca i64"]
    f.do("store i64 0, ptr %turn")
    f.do("store i64 1, ptr %team")
    f.hand_on("i64", "%turn")
    f.do(f"%num_threads = zext i32 {f.load_field(CONTEXT, '%ctx', 'num_threads')} to i64")
    f.do("%thread = zext i32 " + ("0" if f.serial else "%tid") + " to i64")
    args = f.load_field(CONTEXT, "%ctx", "args")
    for index, slot in enumerate(f.interface.args):
        place = f.op(f"getelementptr inbounds i8, ptr {args}, i64 {8 * index}") if index else args
        _argument(f, slot.kind, slot.name, place)
    copies.find_own(f)
    _descriptors(f)
    buckets.prologue(f)
    pipeline.prologue(f)
    pieces.prologue(f)
    for declaration in f.program.globals:
        t = f.types.register(declaration.type)
        slot_name = f.slot(t, declaration.name)
        f.globals[declaration.name] = Binding(declaration.type, slot_name)
        f.do(f"store {t} zeroinitializer, ptr {slot_name}")
        f.hand_on(t, slot_name, declaration.type)
    if f.scan.labels:
        submitted = f.load_field(CONTEXT, "%ctx", "met")
        f.do(f"store i64 {submitted}, ptr %last_trace")
        f.hand_on("i64", "%last_trace")


def _argument(f: Emitter, kind: str, name: str, place: str) -> None:
    alias = f.alias("ctx")
    if kind == "size":
        f.do(f"%{name} = load i64, ptr {place}{alias}")
    elif kind == "prepared_number":
        f.do(f'%"{name}" = load i64, ptr {place}{alias}')
    elif kind in ("length", "columns"):
        f.do(f'%"{kind}.{name}" = load i64, ptr {place}{alias}')
    elif kind == "param":
        t = next(p.type for p in f.program.params if p.name == name)
        f.bind(name, Value(memory.load_at(f, place, t, "ctx"), t))
    elif kind in ("scratch", "touched"):
        scratch.declare(f, kind, name, f.op(f"load ptr, ptr {place}{alias}"))
    else:
        register = f'%"{kind} {name}"'
        f.do(f"{register} = load ptr, ptr {place}{alias}")
        f.pointers[f"channel {name}" if kind == "channel" else name] = register


def _descriptors(f: Emitter) -> None:
    frontiers_, lists = [x.name for x in f.program.frontiers], [x.name for x in f.program.lists]
    for kind, layout, names in (("frontier", FRONTIER, frontiers_), ("list", LIST, lists)):
        if not names:
            continue
        base = f.load_field(CONTEXT, "%ctx", f"{kind}s")
        for index, name in enumerate(names):
            offset = index * layout.size
            f.pointers[f"{kind} {name}"] = (
                f.op(f"getelementptr inbounds i8, ptr {base}, i64 {offset}") if offset else base
            )


def _results(f: Emitter) -> None:
    """Thread 0 stores the scalar results."""
    if not f.open or not f.interface.results:
        return
    scalars = [r.value for r in f.program.results if isinstance(r.value, ir.Expr)]
    with parallel.once(f):
        results = f.load_field(CONTEXT, "%ctx", "results")
        for index, expr in enumerate(scalars):
            value = f.expr(expr)
            place = f.op(f"getelementptr inbounds i8, ptr {results}, i64 {8 * index}")
            memory.store_at(f, place, value.text, value.type, "ctx")


__all__ = ["LLVMBackend"]

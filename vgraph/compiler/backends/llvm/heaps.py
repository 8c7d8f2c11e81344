"""Strict order: a heap of (key, vertex) pairs with four children a node; stale entries are passed over when popped."""

from __future__ import annotations

from collections.abc import Callable

from vgraph.compiler import ir
from vgraph.compiler.backends.abi import DECLARATIONS, WORKER, WORKER_STRIDE
from vgraph.compiler.backends.llvm.emitter import Emitter, Region
from vgraph.compiler.backends.llvm.loops import counted
from vgraph.compiler.backends.llvm.parallel import end_region, once, poll, prepare
from vgraph.compiler.backends.llvm.values import Value
from vgraph.compiler.backends.loops.llvm import functions
from vgraph.compiler.backends.loops.walker import RECORDS, Record, Unit
from vgraph.compiler.types import VID


def unit(key: str) -> Unit:
    """`prelude/heaps.loops` for keys of type i64 or f64."""
    return Unit(
        "heaps", {"K": key}, records={**RECORDS, "PAIR": Record({"key": (0, key), "vertex": (8, "u64")}, 16)}
    )


def _helper(f: Emitter, decl: ir.BucketsDecl, name: str) -> str:
    key = {"double": "f64"}.get(t := f.types.register(decl.key.type), t)
    return functions(unit(key), name, DECLARATIONS, f.helpers, f.declarations)


def push(f: Emitter, decl: ir.BucketsDecl, key: Value, vertex: Value) -> None:
    """`enqueue work v` on this thread's heap."""
    _push(f, decl, key.text, f.index(vertex))


def _push(f: Emitter, decl: ir.BucketsDecl, key: str, vertex: str) -> None:
    worker, t = f.pointers[f"worker {decl.name}"], f.types.register(decl.key.type)
    f.do(f"call void @{_helper(f, decl, 'push')}(ptr %ctx, ptr {worker}, {t} {key}, i64 {vertex})")


def emit_drain(
    f: Emitter,
    node: ir.BucketLoop,
    decl: ir.BucketsDecl,
    key_of: Callable[[Emitter, ir.BucketsDecl, Value], Value],
) -> None:
    """`parbucket v in work` with strict buckets: one thread takes all that any has pushed, the lowest key first."""
    loops, f.loops = f.loops, []
    region = f.region = Region(f.label("drained"))
    prepare(f, node.body, region)
    worker, t = f.pointers[f"worker {decl.name}"], f.types.register(decl.key.type)
    less = "icmp slt" if t == "i64" else "fcmp olt"
    top = f.slot(f"{{ {t}, i64 }}", "top")
    head = f.label("pop")
    with once(f):
        if not f.lone:
            _gather(f, decl)
        f.start(head)
        poll(f)
        some = f.op(f"call i1 @{_helper(f, decl, 'pop')}(ptr {worker}, ptr {top})")
        f.jump_unless(some, region.leave)
        key = f.op(f"load {t}, ptr {top}")
        wide = f.op(f"load i64, ptr {f.op(f'getelementptr inbounds i8, ptr {top}, i64 8')}")
        vertex = f.narrow(wide, VID)
        now = key_of(f, decl, vertex)
        f.jump_if(f.op(f"{less} {t} {now.text}, {key}"), head)
        with f.turn(head):
            f.bind(node.vertex, vertex)
            f.body(node.body)
        f.jump(head)
        f.start(region.leave)
    f.loops = loops
    end_region(f, node.body, region)


def _gather(f: Emitter, decl: ir.BucketsDecl) -> None:
    """Move what the other threads have pushed into this one's heap."""
    workers, t = f.pointers[f"workers {decl.name}"], f.types.register(decl.key.type)

    def take(thread: str, _: str, __: str) -> None:
        row = f.op(f"mul nuw nsw i64 {thread}, {WORKER_STRIDE}")
        other = f.op(f"getelementptr inbounds i8, ptr {workers}, i64 {row}")
        heap, count = f.load_field(WORKER, other, "heap"), f.load_field(WORKER, other, "heap_length")
        f.store_field(WORKER, other, "heap_length", "0")

        def move(i: str, _: str, __: str) -> None:
            pair = f.item(f"{{ {t}, i64 }}", heap, i)
            vertex = f.op(f"load i64, ptr {f.op(f'getelementptr inbounds i8, ptr {pair}, i64 8')}")
            _push(f, decl, f.op(f"load {t}, ptr {pair}"), vertex)

        counted(f, "0", count, move, "pairs")

    counted(f, "1", "%num_threads", take, "heaps")

"""Strict order: a heap of (key, vertex) pairs with four children a node; stale entries are passed over when popped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from vgraph.compiler import ir
from vgraph.compiler.backends.abi import DECLARATIONS, WORKER, WORKER_STRIDE
from vgraph.compiler.backends.llvm.emitter import Emitter, Loop, Region
from vgraph.compiler.backends.llvm.loops import counted
from vgraph.compiler.backends.llvm.parallel import end_region, once, poll, prepare
from vgraph.compiler.backends.llvm.values import Value
from vgraph.compiler.types import VID


def _helper(f: Emitter, decl: ir.BucketsDecl, name: str) -> str:
    key = f.types.register(decl.key.type)
    function = f"vg.heap.{name}.{key}"
    if function not in f.helpers:
        less = "icmp slt" if key == "i64" else "fcmp olt"
        text = _TEXTS[name].replace("<F>", function).replace("<K>", key).replace("<LESS>", less)
        for field in ("heap", "heap_length", "heap_capacity"):
            text = text.replace(f"<{field}>", str(WORKER.offset(field)))
        f.helpers[function] = text
    return function


def push(f: Emitter, decl: ir.BucketsDecl, key: Value, vertex: Value) -> None:
    """`enqueue work v` on this thread's heap."""
    _push(f, decl, key.text, f.index(vertex))


def _push(f: Emitter, decl: ir.BucketsDecl, key: str, vertex: str) -> None:
    worker, t = f.pointers[f"worker {decl.name}"], f.types.register(decl.key.type)
    f.declarations.add(f"declare {DECLARATIONS['vg_heap_grow']} nounwind")
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
    head, inside, fresh = f.label("pop"), f.label("popped"), f.label("fresh")
    with once(f):
        if not f.lone:
            _gather(f, decl)
        f.start(head)
        poll(f)
        some = f.op(f"call i1 @{_helper(f, decl, 'pop')}(ptr {worker}, ptr {top})")
        f.branch(some, inside, region.leave)
        f.start(inside)
        key = f.op(f"load {t}, ptr {top}")
        wide = f.op(f"load i64, ptr {f.op(f'getelementptr inbounds i8, ptr {top}, i64 8')}")
        vertex = f.narrow(wide, VID)
        now = key_of(f, decl, vertex)
        f.branch(f.op(f"{less} {t} {now.text}, {key}"), head, fresh)
        f.start(fresh)
        saved = dict(f.locals)
        f.bind(node.vertex, vertex)
        f.loops.append(Loop("", head))
        f.body(node.body)
        f.loops.pop()
        f.locals = saved
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


_TEXTS: Final = {
    "push": """\
define internal void @<F>(ptr %ctx, ptr %worker, <K> %key, i64 %vertex) nounwind noinline {
entry:
  %length.p = getelementptr inbounds i8, ptr %worker, i64 <heap_length>
  %capacity.p = getelementptr inbounds i8, ptr %worker, i64 <heap_capacity>
  %heap.p = getelementptr inbounds i8, ptr %worker, i64 <heap>
  %n = load i64, ptr %length.p
  %capacity = load i64, ptr %capacity.p
  %full = icmp eq i64 %n, %capacity
  br i1 %full, label %grow, label %room
grow:
  %ok = call i1 @vg_heap_grow(ptr %ctx, ptr %worker)
  br i1 %ok, label %room, label %done
room:
  %heap = load ptr, ptr %heap.p
  %n.new = add i64 %n, 1
  store i64 %n.new, ptr %length.p
  br label %up
up:
  %i = phi i64 [ %n, %room ], [ %above, %down ]
  %first = icmp eq i64 %i, 0
  br i1 %first, label %put, label %compare
compare:
  %i.less = sub i64 %i, 1
  %above = lshr i64 %i.less, 2
  %above.p = getelementptr inbounds { <K>, i64 }, ptr %heap, i64 %above
  %above.key = load <K>, ptr %above.p
  %less = <LESS> <K> %key, %above.key
  br i1 %less, label %down, label %put
down:
  %above.v.p = getelementptr inbounds i8, ptr %above.p, i64 8
  %above.v = load i64, ptr %above.v.p
  %here = getelementptr inbounds { <K>, i64 }, ptr %heap, i64 %i
  %here.v = getelementptr inbounds i8, ptr %here, i64 8
  store <K> %above.key, ptr %here
  store i64 %above.v, ptr %here.v
  br label %up
put:
  %place = getelementptr inbounds { <K>, i64 }, ptr %heap, i64 %i
  %place.v = getelementptr inbounds i8, ptr %place, i64 8
  store <K> %key, ptr %place
  store i64 %vertex, ptr %place.v
  br label %done
done:
  ret void
}
""",
    "pop": """\
define internal i1 @<F>(ptr %worker, ptr %top) nounwind noinline {
entry:
  %length.p = getelementptr inbounds i8, ptr %worker, i64 <heap_length>
  %heap.p = getelementptr inbounds i8, ptr %worker, i64 <heap>
  %n = load i64, ptr %length.p
  %none = icmp eq i64 %n, 0
  br i1 %none, label %empty, label %take
empty:
  ret i1 false
take:
  %heap = load ptr, ptr %heap.p
  %last = sub i64 %n, 1
  store i64 %last, ptr %length.p
  %top.key = load <K>, ptr %heap
  %heap.v = getelementptr inbounds i8, ptr %heap, i64 8
  %top.v = load i64, ptr %heap.v
  %out.v = getelementptr inbounds i8, ptr %top, i64 8
  store <K> %top.key, ptr %top
  store i64 %top.v, ptr %out.v
  %end.p = getelementptr inbounds { <K>, i64 }, ptr %heap, i64 %last
  %key = load <K>, ptr %end.p
  %end.v = getelementptr inbounds i8, ptr %end.p, i64 8
  %vertex = load i64, ptr %end.v
  br label %down
down:
  %i = phi i64 [ 0, %take ], [ %best, %lift ]
  %four = shl i64 %i, 2
  %child = add i64 %four, 1
  %leaf = icmp uge i64 %child, %last
  br i1 %leaf, label %put, label %children
children:
  %stop.all = add i64 %four, 5
  %fewer = icmp ult i64 %stop.all, %last
  %stop = select i1 %fewer, i64 %stop.all, i64 %last
  %first.p = getelementptr inbounds { <K>, i64 }, ptr %heap, i64 %child
  %first.key = load <K>, ptr %first.p
  %second = add i64 %child, 1
  br label %look
look:
  %c = phi i64 [ %second, %children ], [ %c.next, %each ]
  %best = phi i64 [ %child, %children ], [ %best.next, %each ]
  %best.key = phi <K> [ %first.key, %children ], [ %best.key.next, %each ]
  %more = icmp ult i64 %c, %stop
  br i1 %more, label %each, label %decide
each:
  %c.p = getelementptr inbounds { <K>, i64 }, ptr %heap, i64 %c
  %c.key = load <K>, ptr %c.p
  %less = <LESS> <K> %c.key, %best.key
  %best.next = select i1 %less, i64 %c, i64 %best
  %best.key.next = select i1 %less, <K> %c.key, <K> %best.key
  %c.next = add i64 %c, 1
  br label %look
decide:
  %lower = <LESS> <K> %best.key, %key
  br i1 %lower, label %lift, label %put
lift:
  %best.p = getelementptr inbounds { <K>, i64 }, ptr %heap, i64 %best
  %best.v.p = getelementptr inbounds i8, ptr %best.p, i64 8
  %best.v = load i64, ptr %best.v.p
  %here = getelementptr inbounds { <K>, i64 }, ptr %heap, i64 %i
  %here.v = getelementptr inbounds i8, ptr %here, i64 8
  store <K> %best.key, ptr %here
  store i64 %best.v, ptr %here.v
  br label %down
put:
  %place = getelementptr inbounds { <K>, i64 }, ptr %heap, i64 %i
  %place.v = getelementptr inbounds i8, ptr %place, i64 8
  store <K> %key, ptr %place
  store i64 %vertex, ptr %place.v
  ret i1 true
}
""",
}

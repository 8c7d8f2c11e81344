"""Small kernels in LLVM IR that the runtime tests run."""

from __future__ import annotations

from functools import cache

from vgraph.cache import cached_object
from vgraph.compiler.backends import jit
from vgraph.compiler.backends.abi import CONTEXT, DECLARATIONS
from vgraph.runtime.threads import native_runtime

_HEAD = "\n".join(f"declare {text} nounwind" for text in DECLARATIONS.values())


def field(name: str, pointer: str = "%ctx") -> str:
    """Address of a context field, as the right side of an assignment."""
    return f"getelementptr i8, ptr {pointer}, i64 {CONTEXT.offset(name)}"


EMPTY = "define void @kernel(ptr %ctx, i32 %tid) { ret void }"

# args[0] rounds: every thread writes its round to its partial, takes a chunk, and after a barrier compares
# all partials with its own and the chunk counter with 0; a disagreement is recorded as a failure.
ROUNDS = f"""
define void @kernel(ptr %ctx, i32 %tid) {{
entry:
  %n.p = {field("num_threads")}
  %n = load i32, ptr %n.p
  %args.p = {field("args")}
  %args = load ptr, ptr %args.p
  %rounds = load i64, ptr %args
  %partials.p = {field("partials")}
  %partials = load ptr, ptr %partials.p
  %stride.p = {field("partials_stride")}
  %stride = load i64, ptr %stride.p
  %tid64 = zext i32 %tid to i64
  %at = mul i64 %tid64, %stride
  %mine = getelementptr i8, ptr %partials, i64 %at
  %counter.p = {field("chunk_counter")}
  br label %loop
loop:
  %r = phi i64 [ 0, %entry ], [ %r.next, %second ]
  %r.next = add i64 %r, 1
  store i64 %r.next, ptr %mine
  %ticket = atomicrmw add ptr %counter.p, i64 1 monotonic
  %stop1 = call i32 @vg_barrier(ptr %ctx)
  %leave1 = icmp ne i32 %stop1, 0
  br i1 %leave1, label %done, label %check
check:
  %k = phi i64 [ 0, %loop ], [ %k.next, %next ]
  %k.at = mul i64 %k, %stride
  %theirs.p = getelementptr i8, ptr %partials, i64 %k.at
  %theirs = load i64, ptr %theirs.p
  %same = icmp eq i64 %theirs, %r.next
  br i1 %same, label %next, label %fail
fail:
  call void @vg_fail(ptr %ctx, i32 3, i64 %r)
  br label %next
next:
  %k.next = add i64 %k, 1
  %n64 = zext i32 %n to i64
  %more = icmp ult i64 %k.next, %n64
  br i1 %more, label %check, label %count
count:
  %counter = load atomic i64, ptr %counter.p monotonic, align 8
  %reset = icmp eq i64 %counter, 0
  br i1 %reset, label %second.in, label %fail2
fail2:
  call void @vg_fail(ptr %ctx, i32 2, i64 %counter)
  br label %second.in
second.in:
  %stop2 = call i32 @vg_barrier(ptr %ctx)
  %leave2 = icmp ne i32 %stop2, 0
  br i1 %leave2, label %done, label %second
second:
  %again = icmp ult i64 %r.next, %rounds
  br i1 %again, label %loop, label %done
done:
  ret void
}}
"""

# An endless loop of barriers and progress: only `cancel` ends it.
ENDLESS = """
define void @kernel(ptr %ctx, i32 %tid) {
entry:
  %first = icmp eq i32 %tid, 0
  br label %loop
loop:
  br i1 %first, label %report, label %join
report:
  call void @vg_trace(ptr %ctx, i32 1, i32 0, i64 7, i64 100, i64 5, i64 1)
  br label %join
join:
  %stop = call i32 @vg_barrier(ptr %ctx)
  %leave = icmp ne i32 %stop, 0
  br i1 %leave, label %done, label %loop
done:
  ret void
}
"""

# One thread: args[0] rounds of vg_trace.
TRACE = f"""
define void @kernel(ptr %ctx, i32 %tid) {{
entry:
  %args.p = {field("args")}
  %args = load ptr, ptr %args.p
  %rounds = load i64, ptr %args
  br label %loop
loop:
  %r = phi i64 [ 0, %entry ], [ %next, %loop ]
  %label = trunc i64 %r to i32
  %next = add i64 %r, 1
  call void @vg_trace(ptr %ctx, i32 %label, i32 1, i64 %next, i64 10, i64 3, i64 %next)
  %more = icmp ult i64 %next, %rounds
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


@cache
def kernel(text: str) -> int:
    """Address of the function `kernel` of a module."""
    text = f"{_HEAD}\n{text}"
    code, _ = cached_object(jit.object_parts(text, opt=1), lambda: jit.compile_ir(text, opt=1))
    return jit.load_object(code, native_runtime().symbols).address("kernel")

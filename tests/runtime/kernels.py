"""Small kernels in LLVM IR that the runtime tests run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from vgraph.cache import cached_object
from vgraph.compiler.backends import jit
from vgraph.compiler.backends.abi import CONTEXT, DECLARATIONS, SLOTS
from vgraph.compiler.backends.base import Kernel, KernelInterface
from vgraph.runtime.devices.threads import native_runtime

INTERFACE = KernelInterface((), (), (), (), 0, (), (), (), 32, 32, 0)

_HEAD = "\n".join(f"declare {text} nounwind" for text in DECLARATIONS.values())


def field(name: str, pointer: str = "%ctx") -> str:
    """Address of a context field, as the right side of an assignment."""
    return f"getelementptr i8, ptr {pointer}, i64 {CONTEXT.offset(name)}"


EMPTY = "define i32 @kernel(ptr %ctx, i32 %at) { ret i32 -1 }"

# Everything is done by the team, whose members enter at fork point 1.
_TEAM_ONLY = """
define i32 @kernel(ptr %ctx, i32 %at) {
  ret i32 1
}
"""

# args[0] rounds: every thread writes its round to its partial, takes a chunk, and after a barrier compares
# all partials with its own and the chunk counter with 0; a disagreement is recorded as a failure.
ROUNDS = f"""{_TEAM_ONLY}
define i32 @team(ptr %ctx, i32 %tid, i32 %at, i32 %generation) {{
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
  %own = mul i64 %tid64, %stride
  %slots = getelementptr i8, ptr %partials, i64 {SLOTS}
  %mine = getelementptr i8, ptr %slots, i64 %own
  %counter.p = {field("chunk_counter")}
  br label %loop
loop:
  %r = phi i64 [ 0, %entry ], [ %r.next, %second ]
  %r.next = add i64 %r, 1
  store i64 %r.next, ptr %mine
  %ticket = atomicrmw add ptr %counter.p, i64 1 monotonic
  %team1 = call i32 @vg_barrier(ptr %ctx, i32 %tid, i32 %generation, i1 true)
  %leave1 = icmp eq i32 %team1, 0
  br i1 %leave1, label %done, label %check
check:
  %k = phi i64 [ 0, %loop ], [ %k.next, %next ]
  %k.at = mul i64 %k, %stride
  %theirs.p = getelementptr i8, ptr %slots, i64 %k.at
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
  %all = icmp eq i32 %team1, %n
  %right = and i1 %reset, %all
  br i1 %right, label %second.in, label %fail2
fail2:
  call void @vg_fail(ptr %ctx, i32 2, i64 %counter)
  br label %second.in
second.in:
  %team2 = call i32 @vg_barrier(ptr %ctx, i32 %tid, i32 %generation, i1 true)
  %leave2 = icmp eq i32 %team2, 0
  br i1 %leave2, label %done, label %second
second:
  %again = icmp ult i64 %r.next, %rounds
  br i1 %again, label %loop, label %done
done:
  ret i32 -1
}}
"""

# An endless loop of barriers and progress: only `cancel` ends it.
ENDLESS = f"""{_TEAM_ONLY}
define i32 @team(ptr %ctx, i32 %tid, i32 %at, i32 %generation) {{
entry:
  %first = icmp eq i32 %tid, 0
  br label %loop
loop:
  br i1 %first, label %report, label %join
report:
  call void @vg_trace(ptr %ctx, i32 1, i32 0, i64 7, i64 100, i64 5, i64 1)
  br label %join
join:
  %team = call i32 @vg_barrier(ptr %ctx, i32 %tid, i32 %generation, i1 true)
  %leave = icmp eq i32 %team, 0
  br i1 %leave, label %done, label %loop
done:
  ret i32 -1
}}
"""

# One thread: args[0] rounds of vg_trace.
TRACE = f"""
define i32 @kernel(ptr %ctx, i32 %at) {{
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
  ret i32 -1
}}
"""


@cache
def kernel(text: str) -> Kernel:
    """The function `kernel` of a module, with its `team` if it has one."""
    return load(text, native_runtime().symbols)


def load(text: str, symbols: Mapping[str, int]) -> Kernel:
    """The same with another native runtime."""
    module = f"{_HEAD}\n{text}"
    code, _ = cached_object(jit.object_parts(module, opt=1), lambda: jit.compile_ir(module, opt=1))
    loaded = jit.load_object(code, symbols)
    team = loaded.address("team") if "@team" in text else 0
    return Kernel(loaded.address("kernel"), INTERFACE, loaded, team)

"""The native runtime object, as LLVM IR text: clock, trace, lists of frontiers, buckets, the thread pool and its teams.

The text depends on the platform only through the few lines of `_Platform`: how to pause in a spin loop and
how to sleep until a 32-bit word changes (a futex on Linux; polling with `usleep` elsewhere).

`CONTEXT.field(%p)` and the like in the text below stand for the address of a field; `%x = get CONTEXT.field(%p)` and
`set CONTEXT.field(%p) = %x` are a plain load and store. See `_expand`.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Final

from vgraph.compiler.backends import native_buckets as buckets
from vgraph.compiler.backends import native_lists as lists
from vgraph.compiler.backends import native_pool as pool
from vgraph.compiler.backends import native_team as team
from vgraph.compiler.backends import native_ways as ways
from vgraph.compiler.backends.abi import (
    ARMS,
    CONTEXT,
    FORK,
    LIST,
    TRACE_RECORD,
    WORKER,
    WORKER_STRIDE,
    Status,
)

_LAYOUTS: Final = {
    "ARMS": ARMS, "CONTEXT": CONTEXT, "FORK": FORK, "LIST": LIST, "POOL": pool.POOL, "WORKER": WORKER
}  # fmt: skip
_STACK_BYTES: Final = 2 << 20
"""Stack of a worker; generated code keeps its queue buffers there."""
_SYNCHRONOUS_SIGNALS: Final = {"linux": (4, 5, 6, 7, 8, 11), "darwin": (4, 5, 6, 8, 10, 11)}
"""ILL, TRAP, ABRT, BUS, FPE, SEGV: stay deliverable in workers; all others are left to Python's threads."""


@dataclass(frozen=True)
class _Platform:
    """What differs between operating systems and processors."""

    system: str
    machine: str

    @property
    def futex(self) -> int | None:
        """Number of the futex system call, or None where there is none."""
        numbers = {"x86_64": 202, "aarch64": 98}
        return numbers.get(self.machine) if self.system == "linux" else None

    @property
    def pause(self) -> tuple[str, str]:
        """Something that eases a spin loop: the call and the signature of its function."""
        match self.machine:
            case "x86_64":
                return "void @llvm.x86.sse2.pause()", "void @llvm.x86.sse2.pause()"
            case "aarch64":
                return "void @llvm.aarch64.isb(i32 15)", "void @llvm.aarch64.isb(i32)"
        return "i32 @sched_yield()", "i32 @sched_yield()"

    @property
    def monotonic_clock(self) -> int:
        """`CLOCK_MONOTONIC`."""
        return 6 if self.system == "darwin" else 1

    @property
    def thread_clock(self) -> int:
        """`CLOCK_THREAD_CPUTIME_ID`."""
        return 16 if self.system == "darwin" else 3

    @property
    def set_mask(self) -> int:
        """`SIG_SETMASK`."""
        return 3 if self.system == "darwin" else 2


def native_text(system: str, machine: str) -> str:
    """LLVM IR of the native runtime for e.g. ("linux", "x86_64"); names as of `platform`, in lower case."""
    platform = _Platform(
        system.lower(), {"arm64": "aarch64", "amd64": "x86_64"}.get(machine.lower(), machine.lower())
    )
    sleep = _SLEEP_FUTEX.replace("FUTEX", str(platform.futex)) if platform.futex else _SLEEP_POLL
    signals = _SYNCHRONOUS_SIGNALS.get(platform.system, ())
    keep = "\n".join(f"  call i32 @sigdelset(ptr %all, i32 {number})" for number in signals)
    text = "".join(
        (
            _DECLARATIONS,
            sleep,
            _BASE,
            _TRACE,
            _RELEASE,
            lists.TEXT,
            buckets.TEXT,
            team.TEXT,
            ways.TEXT,
            pool.TEXT,
        )
    )
    values = {
        "PAUSE": "call " + platform.pause[0],
        "PAUSE_DECLARATION": "declare " + platform.pause[1],
        "CLOCK": str(platform.monotonic_clock),
        "THREAD_CLOCK": str(platform.thread_clock),
        "SIG_SETMASK": str(platform.set_mask),
        "KEEP_SIGNALS": keep,
        "STACK_BYTES": str(_STACK_BYTES),
        "RECORD_SIZE": str(TRACE_RECORD.itemsize),
        "FORK_SIZE": str(FORK.size),
        "WORKER_STRIDE": str(WORKER_STRIDE),
        "LIST_SIZE": str(LIST.size),
        **{name: str(value) for name, value in (team.VALUES | ways.VALUES).items()},
        "OUT_OF_MEMORY": str(int(Status.OUT_OF_MEMORY)),
    }
    return _expand(text, values)


def _expand(text: str, values: dict[str, str]) -> str:
    """Fill `<NAME>` holes and turn `LAYOUT.field(%p)` into the address of that field."""
    for name, value in values.items():
        text = text.replace(f"<{name}>", value)

    def field(match: re.Match[str]) -> str:
        layout, name, pointer = match.groups()
        return f"getelementptr i8, ptr {pointer}, i64 {_LAYOUTS[layout].offset(name)}"

    def get(match: re.Match[str]) -> str:
        result, layout, name, pointer = match.groups()
        kind = _LAYOUTS[layout].type(name)
        return f"{result}.at = {layout}.{name}({pointer})\n  {result} = load {kind}, ptr {result}.at"

    count = itertools.count()

    def put(match: re.Match[str]) -> str:
        layout, name, pointer, value = match.groups()
        kind, at = _LAYOUTS[layout].type(name), f"%at.{next(count)}"
        return f"{at} = {layout}.{name}({pointer})\n  store {kind} {value}, ptr {at}"

    place = rf"({'|'.join(_LAYOUTS)})\.(\w+)\((%[\w.]+)\)"
    text = re.sub(rf"(%[\w.]+) = get {place}", get, text)
    text = re.sub(rf"\bset {place} = (\S+)", put, text)
    return re.sub(rf"\b{place}", field, text)


_DECLARATIONS = """
declare i64 @syscall(i64, ...) nounwind
declare i32 @usleep(i32) nounwind
declare i32 @clock_gettime(i32, ptr) nounwind
declare ptr @realloc(ptr, i64) nounwind
declare ptr @calloc(i64, i64) nounwind
declare void @free(ptr) nounwind
declare i32 @pthread_create(ptr, ptr, ptr, ptr) nounwind
declare i32 @pthread_join(ptr, ptr) nounwind
declare i32 @pthread_attr_init(ptr) nounwind
declare i32 @pthread_attr_setstacksize(ptr, i64) nounwind
declare i32 @pthread_attr_destroy(ptr) nounwind
declare i32 @pthread_sigmask(i32, ptr, ptr) nounwind
declare i32 @sigfillset(ptr) nounwind
declare i32 @sigdelset(ptr, i32) nounwind
<PAUSE_DECLARATION>
declare void @llvm.memcpy.p0.p0.i64(ptr noalias, ptr noalias, i64, i1)
"""

_SLEEP_FUTEX = """
; Sleep while *word == old, at most %ns nanoseconds (negative: without limit). May return early.
define internal void @sleep_while(ptr %word, i32 %old, i64 %ns) nounwind noinline {
  %time = alloca { i64, i64 }
  %seconds = sdiv i64 %ns, 1000000000
  %rest = srem i64 %ns, 1000000000
  %rest.p = getelementptr i8, ptr %time, i64 8
  store i64 %seconds, ptr %time
  store i64 %rest, ptr %rest.p
  %forever = icmp slt i64 %ns, 0
  %timeout = select i1 %forever, ptr null, ptr %time
  %rc = call i64 (i64, ...) @syscall(i64 FUTEX, ptr %word, i32 128, i32 %old, ptr %timeout, ptr null, i32 0)
  ret void
}

define internal void @wake_all(ptr %word) nounwind noinline {
  %rc = call i64 (i64, ...) @syscall(i64 FUTEX, ptr %word, i32 129, i32 2147483647, ptr null, ptr null, i32 0)
  ret void
}
"""

_SLEEP_POLL = """
; No futex: naps until *word changes, the time is over or a signal comes.
define internal void @sleep_while(ptr %word, i32 %old, i64 %ns) nounwind noinline {
entry:
  %begin = call i64 @vg_now()
  br label %loop
loop:
  %rc = call i32 @usleep(i32 50)
  %seen = load atomic i32, ptr %word monotonic, align 4
  %same = icmp eq i32 %seen, %old
  %slept = icmp eq i32 %rc, 0
  %now = call i64 @vg_now()
  %past = sub i64 %now, %begin
  %inside = icmp ult i64 %past, %ns
  %a = and i1 %same, %slept
  %again = and i1 %a, %inside
  br i1 %again, label %loop, label %done
done:
  ret void
}

define internal void @wake_all(ptr %word) nounwind noinline {
  ret void
}
"""

_BASE = """
define i64 @vg_now() nounwind {
  %now = call i64 @clock(i32 <CLOCK>)
  ret i64 %now
}

; How much later it is than the calling thread has run: it grows while the system does not run the thread.
define internal i64 @idle() nounwind {
  %now = call i64 @vg_now()
  %ran = call i64 @clock(i32 <THREAD_CLOCK>)
  %idle = sub i64 %now, %ran
  ret i64 %idle
}

define internal i64 @clock(i32 %which) nounwind {
  %time = alloca { i64, i64 }
  %rc = call i32 @clock_gettime(i32 %which, ptr %time)
  %rest.p = getelementptr i8, ptr %time, i64 8
  %seconds = load i64, ptr %time
  %rest = load i64, ptr %rest.p
  %ns = mul i64 %seconds, 1000000000
  %now = add i64 %ns, %rest
  ret i64 %now
}

define void @vg_pause(ptr %ctx, i64 %tries) nounwind {
  %spin.p = CONTEXT.spin_limit(%ctx)
  %spin = load i32, ptr %spin.p
  %spin.w = zext i32 %spin to i64
  %more = icmp ult i64 %tries, %spin.w
  br i1 %more, label %pause, label %yield
pause:
  <PAUSE>
  br label %done
yield:
  %rc = call i32 @usleep(i32 1)
  br label %done
done:
  ret void
}

define void @vg_fail(ptr %ctx, i32 %code, i64 %payload) nounwind {
  %status = CONTEXT.status(%ctx)
  %pair = cmpxchg ptr %status, i32 0, i32 %code seq_cst seq_cst
  %first = extractvalue { i32, i1 } %pair, 1
  br i1 %first, label %mine, label %done
mine:
  %payload.p = CONTEXT.payload(%ctx)
  store i64 %payload, ptr %payload.p
  br label %done
done:
  ret void
}

; Poll *word up to %spin times, then sleep, until it differs from %old; whether it slept. Returns with acquire ordering.
; A sleeper counts itself before it looks again, and the waker stores the word before it looks at the count,
; all sequentially consistent, so no wake-up is lost.
define internal i1 @wait_change(ptr %word, i32 %old, ptr %sleepers, i32 %spin) nounwind {
entry:
  br label %poll
poll:
  %i = phi i32 [ 0, %entry ], [ %i.next, %pause ]
  %seen = load atomic i32, ptr %word acquire, align 4
  %changed = icmp ne i32 %seen, %old
  br i1 %changed, label %done, label %count
count:
  %more = icmp ult i32 %i, %spin
  br i1 %more, label %pause, label %sleep
pause:
  <PAUSE>
  %i.next = add i32 %i, 1
  br label %poll
sleep:
  %before = atomicrmw add ptr %sleepers, i32 1 seq_cst
  br label %check
check:
  %now = load atomic i32, ptr %word seq_cst, align 4
  %same = icmp eq i32 %now, %old
  br i1 %same, label %nap, label %awake
nap:
  call void @sleep_while(ptr %word, i32 %old, i64 -1)
  br label %check
awake:
  %after = atomicrmw sub ptr %sleepers, i32 1 seq_cst
  ret i1 true
done:
  ret i1 false
}

; Add 1 to *word and wake whoever sleeps on it.
define internal void @advance(ptr %word, ptr %sleepers) nounwind {
  %old = atomicrmw add ptr %word, i32 1 seq_cst
  %count = load atomic i32, ptr %sleepers seq_cst, align 4
  %some = icmp ne i32 %count, 0
  br i1 %some, label %wake, label %done
wake:
  call void @wake_all(ptr %word)
  br label %done
done:
  ret void
}
"""

_TRACE = """
define void @vg_trace(ptr %ctx, i32 %label, i32 %direction, i64 %frontier, i64 %edges, i64 %ns, i64 %end) nounwind {
entry:
  %rounds.p = CONTEXT.rounds(%ctx)
  %size.p = CONTEXT.frontier_size(%ctx)
  %edges.p = CONTEXT.edges(%ctx)
  %rounds = load i64, ptr %rounds.p
  %edges.old = load i64, ptr %edges.p
  %rounds.new = add i64 %rounds, 1
  %edges.new = add i64 %edges.old, %edges
  store atomic i64 %rounds.new, ptr %rounds.p monotonic, align 8
  store atomic i64 %frontier, ptr %size.p monotonic, align 8
  store atomic i64 %edges.new, ptr %edges.p monotonic, align 8
  %pool = get CONTEXT.pool(%ctx)
  call void @forget(ptr %ctx, ptr %pool, i64 %end)
  call void @learn_alone(ptr %ctx, ptr %pool, i64 %end)
  %so.far = get CONTEXT.waited(%ctx)
  %told = get CONTEXT.traced(%ctx)
  set CONTEXT.traced(%ctx) = %so.far
  %waited = sub i64 %so.far, %told
  %buffer.p = CONTEXT.trace(%ctx)
  %length.p = CONTEXT.trace_length(%ctx)
  %capacity.p = CONTEXT.trace_capacity(%ctx)
  %limit.p = CONTEXT.trace_limit(%ctx)
  %length = load i64, ptr %length.p
  %capacity = load i64, ptr %capacity.p
  %limit = load i64, ptr %limit.p
  %allowed = icmp ult i64 %length, %limit
  br i1 %allowed, label %room, label %drop
room:
  %fits = icmp ult i64 %length, %capacity
  br i1 %fits, label %write, label %grow
grow:
  %old = load ptr, ptr %buffer.p
  %twice = shl i64 %capacity, 1
  %small = icmp ult i64 %twice, 256
  %wanted = select i1 %small, i64 256, i64 %twice
  %bytes = mul i64 %wanted, <RECORD_SIZE>
  %new = call ptr @realloc(ptr %old, i64 %bytes)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %drop, label %grown
grown:
  store ptr %new, ptr %buffer.p
  store i64 %wanted, ptr %capacity.p
  br label %write
write:
  %buffer = load ptr, ptr %buffer.p
  %record = getelementptr [<RECORD_SIZE> x i8], ptr %buffer, i64 %length
  %direction.p = getelementptr i8, ptr %record, i64 4
  %frontier.p = getelementptr i8, ptr %record, i64 8
  %record.edges.p = getelementptr i8, ptr %record, i64 16
  %ns.p = getelementptr i8, ptr %record, i64 24
  %end.p = getelementptr i8, ptr %record, i64 32
  store i32 %label, ptr %record
  store i32 %direction, ptr %direction.p
  store i64 %frontier, ptr %frontier.p
  store i64 %edges, ptr %record.edges.p
  store i64 %ns, ptr %ns.p
  store i64 %end, ptr %end.p
  %waited.p = getelementptr i8, ptr %record, i64 40
  store i64 %waited, ptr %waited.p
  %length.new = add i64 %length, 1
  store i64 %length.new, ptr %length.p
  ret void
drop:
  %dropped.p = CONTEXT.trace_dropped(%ctx)
  %dropped = load i64, ptr %dropped.p
  %dropped.new = add i64 %dropped, 1
  store i64 %dropped.new, ptr %dropped.p
  ret void
}
"""

_RELEASE = """
; Free what native code has allocated for a context, and forget it; in one call, so that Python cannot be interrupted
; between the two.
define void @vg_release(ptr %ctx) nounwind {
entry:
  %trace = get CONTEXT.trace(%ctx)
  call void @free(ptr %trace)
  set CONTEXT.trace(%ctx) = null
  set CONTEXT.trace_length(%ctx) = 0
  set CONTEXT.trace_capacity(%ctx) = 0
  %lists = get CONTEXT.lists(%ctx)
  %lists.n = get CONTEXT.num_lists(%ctx)
  %threads = get CONTEXT.num_threads(%ctx)
  br label %lists.head
lists.head:
  %l = phi i32 [ 0, %entry ], [ %l.next, %list ]
  %lists.more = icmp ult i32 %l, %lists.n
  br i1 %lists.more, label %list, label %buckets
list:
  %list.p = getelementptr [<LIST_SIZE> x i8], ptr %lists, i32 %l
  call void @vg_list_free(ptr %list.p)
  %l.next = add i32 %l, 1
  br label %lists.head
buckets:
  %sets = get CONTEXT.buckets(%ctx)
  %sets.n = get CONTEXT.num_buckets(%ctx)
  %workers.n = mul i32 %sets.n, %threads
  br label %workers.head
workers.head:
  %w = phi i32 [ 0, %buckets ], [ %w.next, %worker ]
  %workers.more = icmp ult i32 %w, %workers.n
  br i1 %workers.more, label %worker, label %done
worker:
  %set = udiv i32 %w, %threads
  %rank = urem i32 %w, %threads
  %set.p = getelementptr ptr, ptr %sets, i32 %set
  %workers = load ptr, ptr %set.p
  %worker.p = getelementptr [<WORKER_STRIDE> x i8], ptr %workers, i32 %rank
  call void @free_worker(ptr %worker.p)
  %w.next = add i32 %w, 1
  br label %workers.head
done:
  ret void
}

define internal void @free_worker(ptr %worker) nounwind {
entry:
  %table = get WORKER.table(%worker)
  %heap = get WORKER.heap(%worker)
  %slabs = get WORKER.slabs(%worker)
  call void @free(ptr %table)
  call void @free(ptr %heap)
  br label %loop
loop:
  %slab = phi ptr [ %slabs, %entry ], [ %next, %more ]
  %none = icmp eq ptr %slab, null
  br i1 %none, label %done, label %more
more:
  %next = load ptr, ptr %slab
  call void @free(ptr %slab)
  br label %loop
done:
  call void @llvm.memset.p0.i64(ptr %worker, i8 0, i64 <WORKER_STRIDE>, i1 false)
  ret void
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""

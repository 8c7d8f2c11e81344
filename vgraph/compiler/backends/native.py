"""The native runtime object, as LLVM IR text: clock, trace, lists of frontiers, buckets, the thread pool and its teams.

The text depends on the platform only through the few lines of `_Platform`: how to pause in a spin loop and
how to sleep until a 32-bit word changes (a futex on Linux; polling with `usleep` elsewhere).

Only what touches the system itself is text of LLVM here. The rest is in the prelude (`loops/`): `native.loops`,
`ways.loops`, `team.loops`, `pool.loops`, `sets.loops`.
"""

from __future__ import annotations

import re
from typing import Final

from vgraph.compiler.backends.abi import (
    DESK,
    GO_ON,
    LEAVE,
    OPEN,
    TRACE_RECORD,
    WORKER_STRIDE,
    Status,
    Steering,
    Way,
)
from vgraph.compiler.backends.loops.llvm import functions
from vgraph.compiler.backends.loops.walker import RECORDS, Record, Unit
from vgraph.records import dataclass

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
    text = "".join((_DECLARATIONS, sleep, _BASE, _START))
    values = {
        "PAUSE": "call " + platform.pause[0],
        "PAUSE_DECLARATION": "declare " + platform.pause[1],
        "CLOCK": str(platform.monotonic_clock),
        "THREAD_CLOCK": str(platform.thread_clock),
        "SIG_SETMASK": str(platform.set_mask),
        "KEEP_SIGNALS": keep,
        "STACK_BYTES": str(_STACK_BYTES),
    }
    for name, value in values.items():
        text = text.replace(f"<{name}>", value)
    return text + _prelude(text)


def unit() -> Unit:
    """What of the runtime is in the prelude."""
    numbers = {
        "OUT_OF_MEMORY": int(Status.OUT_OF_MEMORY), "RECORD_SIZE": TRACE_RECORD.itemsize,
        "WORKER_STRIDE": WORKER_STRIDE, "GO_ON": GO_ON, "OPEN": OPEN, "LEAVE": LEAVE,
        "DESK_SIZE": DESK.size,
        **{way.name: int(way) for way in (*Steering, *Way)},
    }  # fmt: skip
    places = (TRACE_RECORD.fields or {}).items()
    fields = {name: (at, "u32" if t.itemsize == 4 else "u64") for name, (t, at, *_) in places}
    record = Record(fields, TRACE_RECORD.itemsize)
    return Unit("native ways team pool sets", numbers=numbers, records={**RECORDS, "RECORD": record})


def _prelude(text: str) -> str:
    """What is written in the prelude, and may call what `text` declares or defines."""
    found = re.findall(r"^(?:declare|define(?: internal)?) (\w+) @(\w+)", text, re.MULTILINE)
    into: dict[str, str] = {}
    runtime = unit()
    for name in runtime.functions:
        functions(runtime, name, {called: result for result, called in found}, into, set())
    return "\n".join(into.values())


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
declare ptr @aligned_alloc(i64, i64) nounwind
declare ptr @memcpy(ptr, ptr, i64) nounwind
declare ptr @memset(ptr, i32, i64) nounwind
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
define internal void @pause() nounwind {
  <PAUSE>
  ret void
}

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
"""

_START = """
; Start %n workers of a pool that is taken, with signals blocked: Python's threads get them. 0 if the system refuses.
define i32 @vg_pool_start(ptr %pool, i32 %n) nounwind {
  %all = alloca [128 x i8], align 16
  %old = alloca [128 x i8], align 16
  %attr = alloca [128 x i8], align 16
  call i32 @sigfillset(ptr %all)
<KEEP_SIGNALS>
  call i32 @pthread_sigmask(i32 <SIG_SETMASK>, ptr %all, ptr %old)
  call i32 @pthread_attr_init(ptr %attr)
  call i32 @pthread_attr_setstacksize(ptr %attr, i64 <STACK_BYTES>)
  %done = call i32 @start_workers(ptr %pool, i32 %n, ptr %attr, ptr @worker)
  call i32 @pthread_attr_destroy(ptr %attr)
  call i32 @pthread_sigmask(i32 <SIG_SETMASK>, ptr %old, ptr null)
  ret i32 %done
}
"""

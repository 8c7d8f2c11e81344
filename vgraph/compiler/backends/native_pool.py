"""The thread pool of the native runtime; see `native.py` for the notation."""

from __future__ import annotations

from typing import Final

from vgraph.compiler.backends.abi import Layout

POOL: Final = Layout(
    "Pool",
    (
        ("num_workers", "i32"),
        ("threads", "ptr"),
        ("next_tid", "i32"),
        ("shutdown", "i32"),
    ),
    (("fn", "ptr"), ("ctx", "ptr"), ("job_threads", "i32")),  # published by `epoch`
    (("epoch", "i32"), ("sleepers", "i32")),  # a job is there when `epoch` changes
    (("remaining", "i32"), ("waiting", "i32")),  # workers that have not finished the job
)
"""A pool. Every worker counts itself off after every job, also one without a part in it: no job is missed."""

_WORKER: Final = """
; Waits for a job asleep: spinning here was measured to delay the wake-up of Python's own thread.
define internal ptr @worker(ptr %pool) nounwind {
entry:
  %next.p = POOL.next_tid(%pool)
  %tid = atomicrmw add ptr %next.p, i32 1 monotonic
  %epoch.p = POOL.epoch(%pool)
  %sleepers.p = POOL.sleepers(%pool)
  %shutdown.p = POOL.shutdown(%pool)
  %fn.p = POOL.fn(%pool)
  %ctx.p = POOL.ctx(%pool)
  %n.p = POOL.job_threads(%pool)
  %remaining.p = POOL.remaining(%pool)
  %waiting.p = POOL.waiting(%pool)
  br label %loop
loop:
  %seen = phi i32 [ 0, %entry ], [ %job, %count_off ], [ %job, %wake ]
  call void @wait_change(ptr %epoch.p, i32 %seen, ptr %sleepers.p, i32 0)
  %job = add i32 %seen, 1
  %shutdown = load i32, ptr %shutdown.p
  %quit = icmp ne i32 %shutdown, 0
  br i1 %quit, label %leave, label %work
work:
  %n = load i32, ptr %n.p
  %mine = icmp ult i32 %tid, %n
  br i1 %mine, label %run, label %count_off
run:
  %fn = load ptr, ptr %fn.p
  %ctx = load ptr, ptr %ctx.p
  call void %fn(ptr %ctx, i32 %tid)
  br label %count_off
count_off:
  %before = atomicrmw sub ptr %remaining.p, i32 1 seq_cst
  %waiting = load atomic i32, ptr %waiting.p seq_cst, align 4
  %last = icmp eq i32 %before, 1
  %some = icmp ne i32 %waiting, 0
  %call = and i1 %last, %some
  br i1 %call, label %wake, label %loop
wake:
  call void @wake_all(ptr %remaining.p)
  br label %loop
leave:
  ret ptr null
}
"""

_CREATE: Final = """
; Start up to %n workers with signals blocked (Python's threads get them); returns how many started.
define internal i32 @start_workers(ptr %pool, i32 %n) nounwind {
entry:
  %all = alloca [128 x i8], align 16
  %old = alloca [128 x i8], align 16
  %attr = alloca [128 x i8], align 16
  %threads.p = POOL.threads(%pool)
  %threads = load ptr, ptr %threads.p
  call i32 @sigfillset(ptr %all)
<KEEP_SIGNALS>
  call i32 @pthread_sigmask(i32 <SIG_SETMASK>, ptr %all, ptr %old)
  call i32 @pthread_attr_init(ptr %attr)
  call i32 @pthread_attr_setstacksize(ptr %attr, i64 <STACK_BYTES>)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %started ]
  %more = icmp ult i32 %i, %n
  br i1 %more, label %start, label %done
start:
  %slot = getelementptr i64, ptr %threads, i32 %i
  %rc = call i32 @pthread_create(ptr %slot, ptr %attr, ptr @worker, ptr %pool)
  %ok = icmp eq i32 %rc, 0
  br i1 %ok, label %started, label %done
started:
  %next = add i32 %i, 1
  br label %loop
done:
  call i32 @pthread_attr_destroy(ptr %attr)
  call i32 @pthread_sigmask(i32 <SIG_SETMASK>, ptr %old, ptr null)
  %workers.p = POOL.num_workers(%pool)
  store i32 %i, ptr %workers.p
  ret i32 %i
}

; A pool of %n workers, or null when memory or threads are not to be had.
define ptr @vg_pool_create(i32 %n) nounwind {
  %n64 = zext i32 %n to i64
  %pool = call ptr @calloc(i64 1, i64 <POOL_SIZE>)
  %threads = call ptr @calloc(i64 %n64, i64 8)
  %no1 = icmp eq ptr %pool, null
  %no2 = icmp eq ptr %threads, null
  %no = or i1 %no1, %no2
  br i1 %no, label %fail, label %start
fail:
  call void @free(ptr %pool)
  call void @free(ptr %threads)
  ret ptr null
start:
  %threads.p = POOL.threads(%pool)
  store ptr %threads, ptr %threads.p
  %started = call i32 @start_workers(ptr %pool, i32 %n)
  %all = icmp eq i32 %started, %n
  br i1 %all, label %done, label %undo
undo:
  call void @vg_pool_destroy(ptr %pool)
  ret ptr null
done:
  ret ptr %pool
}
"""

_HOST: Final = """
define void @vg_pool_submit(ptr %pool, ptr %fn, ptr %ctx, i32 %n) nounwind {
  %fn.p = POOL.fn(%pool)
  %ctx.p = POOL.ctx(%pool)
  %n.p = POOL.job_threads(%pool)
  %workers.p = POOL.num_workers(%pool)
  %remaining.p = POOL.remaining(%pool)
  %epoch.p = POOL.epoch(%pool)
  %sleepers.p = POOL.sleepers(%pool)
  %workers = load i32, ptr %workers.p
  store ptr %fn, ptr %fn.p
  store ptr %ctx, ptr %ctx.p
  store i32 %n, ptr %n.p
  store atomic i32 %workers, ptr %remaining.p monotonic, align 4
  call void @advance(ptr %epoch.p, ptr %sleepers.p)
  ret void
}

; 1 when the job is done; 0 after about %ns nanoseconds, or earlier when a signal came.
define i32 @vg_pool_wait(ptr %pool, i64 %ns) nounwind {
  %remaining.p = POOL.remaining(%pool)
  %waiting.p = POOL.waiting(%pool)
  %a = atomicrmw add ptr %waiting.p, i32 1 seq_cst
  %now = load atomic i32, ptr %remaining.p seq_cst, align 4
  %left = icmp ne i32 %now, 0
  br i1 %left, label %nap, label %awake
nap:
  call void @sleep_while(ptr %remaining.p, i32 %now, i64 %ns)
  br label %awake
awake:
  %b = atomicrmw sub ptr %waiting.p, i32 1 seq_cst
  %end = load atomic i32, ptr %remaining.p acquire, align 4
  %ok = icmp eq i32 %end, 0
  %ok.i = zext i1 %ok to i32
  ret i32 %ok.i
}

; Only for an idle pool.
define void @vg_pool_destroy(ptr %pool) nounwind {
entry:
  %shutdown.p = POOL.shutdown(%pool)
  %epoch.p = POOL.epoch(%pool)
  %sleepers.p = POOL.sleepers(%pool)
  %workers.p = POOL.num_workers(%pool)
  %threads.p = POOL.threads(%pool)
  %n = load i32, ptr %workers.p
  %threads = load ptr, ptr %threads.p
  store i32 1, ptr %shutdown.p
  call void @advance(ptr %epoch.p, ptr %sleepers.p)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %join ]
  %more = icmp ult i32 %i, %n
  br i1 %more, label %join, label %done
join:
  %slot = getelementptr i64, ptr %threads, i32 %i
  %thread = load ptr, ptr %slot
  %rc = call i32 @pthread_join(ptr %thread, ptr null)
  %next = add i32 %i, 1
  br label %loop
done:
  call void @free(ptr %threads)
  call void @free(ptr %pool)
  ret void
}
"""

TEXT: Final = _WORKER + _CREATE + _HOST

"""The thread pool of the native runtime; see `native.py` for the notation.

A pool's memory belongs to Python, which keeps it until the threads have ended. Worker 0 is the first thread of every
run; the others come to parallel loops whose door is open (`native_team.py`).

A run is over when `running` falls to 0: the first thread counts, and everybody who is inside, or may be about to go
in. A thread goes in only while it is above 0, so that happens once. Who is the last says so in the run's context,
which is the last that native code ever does with it, and the pool is free for the next run.
"""

from __future__ import annotations

from typing import Final

from vgraph.compiler.backends.abi import Layout

POOL: Final = Layout(
    "Pool",
    (
        ("num_workers", "i32"),
        ("next_number", "i32"),
        ("shutdown", "i32"),
        ("threads", "ptr"),  # a pthread_t for each worker
    ),
    (  # the run, and what `team` publishes when the door is opened
        ("ctx", "ptr"),
        ("main", "ptr"),  # its code for one thread
        ("helper", "ptr"),  # and for a team; null: there is none
        ("at", "i32"),  # the fork point that is open
        ("generation", "i32"),
    ),
    (("claim", "i32"),),  # 1 from `vg_submit` to the end of the run
    (("epoch", "i32"), ("sleepers", "i32")),  # worker 0 has something to do when `epoch` changes
    (("door", "i32"), ("door_sleepers", "i32")),  # the others look at `team` when `door` changes
    (("running", "i32"),),
    (("team", "i64"), ("arrivals", "i64")),  # and the sum of the times at which threads arrived at a barrier
    (  # of the first thread (`native_team.py`); kept from run to run
        ("few", "i64"),  # ns of work of a loop that is not worth a team
        ("few_until", "i64"),
        ("wait_mean", "i64"),
        ("missed", "i64"),  # ns of work done without threads that sleep
        ("busy_until", "i64"),  # after a thread was waited for, or not run, for long
        ("shared_until", "i64"),  # after a thread was not run for long
        ("spin", "i32"),  # what the host has set as `spin_limit`
    ),
)
"""A pool, followed by a `pthread_t` for each worker."""

_WORKER: Final = """
; Worker 0 waits for runs, asleep: spinning here was measured to delay the wake-up of Python's own thread.
define internal ptr @worker(ptr %pool) nounwind {
entry:
  %next.p = POOL.next_number(%pool)
  %number = atomicrmw add ptr %next.p, i32 1 monotonic
  %first = icmp eq i32 %number, 0
  %epoch.p = POOL.epoch(%pool)
  %sleepers.p = POOL.sleepers(%pool)
  br i1 %first, label %loop, label %other
other:
  call void @help(ptr %pool)
  ret ptr null
loop:
  %seen = phi i32 [ 0, %entry ], [ %job, %work ]
  %slept = call i1 @wait_change(ptr %epoch.p, i32 %seen, ptr %sleepers.p, i32 0)
  %job = add i32 %seen, 1
  %shutdown = get POOL.shutdown(%pool)
  %quit = icmp ne i32 %shutdown, 0
  br i1 %quit, label %leave, label %work
work:
  call void @run(ptr %pool)
  call void @leave_run(ptr %pool)
  br label %loop
leave:
  ret ptr null
}

; A run from beginning to end: code for one thread and code for a team take turns, each until it gives a fork point at
; which the other goes on, or a negative number.
define internal void @run(ptr %pool) nounwind {
entry:
  %ctx = get POOL.ctx(%pool)
  %main = get POOL.main(%pool)
  %helper = get POOL.helper(%pool)
  %counter.p = CONTEXT.chunk_counter(%ctx)
  %arms = get CONTEXT.arms(%ctx)
  call void @turn_clocks(ptr %arms)
  br label %one
one:
  %at = phi i32 [ 0, %entry ], [ %back, %many ]
  %fork = call i32 %main(ptr %ctx, i32 %at)
  %over = icmp slt i32 %fork, 0
  br i1 %over, label %done, label %many
many:
  store atomic i64 0, ptr %counter.p monotonic, align 8
  call void @vg_open(ptr %ctx, i32 %fork)
  %back = call i32 %helper(ptr %ctx, i32 0, i32 %fork, i32 0)
  %end = icmp slt i32 %back, 0
  br i1 %end, label %done, label %one
done:
  call void @turn_clocks(ptr %arms)
  ret void
}

; A window goes on in the next run: from when it began to how long it has lasted, and back.
define internal void @turn_clocks(ptr %arms) nounwind {
  %start = get ARMS.start(%arms)
  %idle = get ARMS.idle(%arms)
  %now = call i64 @vg_now()
  %idle.now = call i64 @idle()
  %lasted = sub i64 %now, %start
  %idled = sub i64 %idle.now, %idle
  set ARMS.start(%arms) = %lasted
  set ARMS.idle(%arms) = %idled
  ret void
}

define internal void @leave_run(ptr %pool) nounwind {
entry:
  %running.p = POOL.running(%pool)
  %ctx = get POOL.ctx(%pool)
  %before = atomicrmw sub ptr %running.p, i32 1 acq_rel
  %last = icmp eq i32 %before, 1
  br i1 %last, label %end, label %done
end:
  %claim.p = POOL.claim(%pool)
  %used.p = CONTEXT.in_use(%ctx)
  store atomic i32 0, ptr %claim.p release, align 4
  %used = atomicrmw xchg ptr %used.p, i32 0 seq_cst
  %waiting = icmp eq i32 %used, 3
  br i1 %waiting, label %wake, label %done
wake:
  call void @wake_all(ptr %used.p)
  br label %done
done:
  ret void
}

; A worker that is not the first: looks for an open door while a run is under way and it has not looked too often in
; vain, else sleeps until it is called.
define internal void @help(ptr %pool) nounwind {
entry:
  %door.p = POOL.door(%pool)
  %sleepers.p = POOL.door_sleepers(%pool)
  %running.p = POOL.running(%pool)
  br label %sleep
sleep:
  %seen = phi i32 [ 0, %entry ], [ %call, %look ], [ %call, %enough ]
  %slept = call i1 @wait_change(ptr %door.p, i32 %seen, ptr %sleepers.p, i32 0)
  %call = load atomic i32, ptr %door.p acquire, align 4
  %shutdown = get POOL.shutdown(%pool)
  %quit = icmp ne i32 %shutdown, 0
  br i1 %quit, label %leave, label %look
look:
  %i = phi i32 [ 0, %sleep ], [ 0, %inside ], [ %i.next, %again ]
  %running = load atomic i32, ptr %running.p monotonic, align 4
  %none = icmp eq i32 %running, 0
  br i1 %none, label %sleep, label %try
try:
  %joined = call i1 @join(ptr %pool, i32 %running)
  br i1 %joined, label %inside, label %enough
inside:
  br label %look
enough:
  %spin = get POOL.spin(%pool)
  %more = icmp ult i32 %i, %spin
  br i1 %more, label %again, label %sleep
again:
  <PAUSE>
  %i.next = add i32 %i, 1
  br label %look
leave:
  ret void
}

; Go in if the door is open, and help until the team is dismissed or the run is over; false if it is not.
define internal i1 @join(ptr %pool, i32 %running) nounwind {
entry:
  %team.p = POOL.team(%pool)
  %running.p = POOL.running(%pool)
  %peek = load atomic i64, ptr %team.p monotonic, align 8
  %peek.door = and i64 %peek, <DOOR>
  %shut = icmp eq i64 %peek.door, 0
  br i1 %shut, label %no, label %enter
enter:
  %r = phi i32 [ %running, %entry ], [ %r.seen, %again ]
  %r.1 = add i32 %r, 1
  %pair.r = cmpxchg ptr %running.p, i32 %r, i32 %r.1 acq_rel monotonic
  %r.seen = extractvalue { i32, i1 } %pair.r, 0
  %entered = extractvalue { i32, i1 } %pair.r, 1
  br i1 %entered, label %look, label %again
again:
  %over = icmp eq i32 %r.seen, 0
  br i1 %over, label %no, label %enter
look:
  %word = load atomic i64, ptr %team.p acquire, align 8
  %door = and i64 %word, <DOOR>
  %open = icmp ne i64 %door, 0
  %arrived = and i64 %word, 65535
  %members.up = lshr i64 %word, 16
  %members = and i64 %members.up, 65535
  %going = icmp ult i64 %arrived, %members
  %may = and i1 %open, %going
  br i1 %may, label %claim, label %out
claim:
  %ctx = get POOL.ctx(%pool)
  %helper = get POOL.helper(%pool)
  %at = get POOL.at(%pool)
  %generation = get POOL.generation(%pool)
  %one.more = add i64 %word, <MEMBER>
  %pair = cmpxchg ptr %team.p, i64 %word, i64 %one.more acq_rel monotonic
  %mine = extractvalue { i64, i1 } %pair, 1
  br i1 %mine, label %work, label %look
work:
  %rank = trunc i64 %members to i32
  %end = call i32 %helper(ptr %ctx, i32 %rank, i32 %at, i32 %generation)
  call void @leave_run(ptr %pool)
  ret i1 true
out:
  call void @leave_run(ptr %pool)
  ret i1 false
no:
  ret i1 false
}
"""

_CREATE: Final = """
; Start %n workers of a pool that is taken, with signals blocked (Python's threads get them), and let it go; 0 if the
; system refuses, and then none is left.
define i32 @vg_pool_start(ptr %pool, i32 %n) nounwind {
entry:
  %all = alloca [128 x i8], align 16
  %old = alloca [128 x i8], align 16
  %attr = alloca [128 x i8], align 16
  %threads = get POOL.threads(%pool)
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
  set POOL.num_workers(%pool) = %next
  br label %loop
done:
  call i32 @pthread_attr_destroy(ptr %attr)
  call i32 @pthread_sigmask(i32 <SIG_SETMASK>, ptr %old, ptr null)
  %complete = icmp eq i32 %i, %n
  br i1 %complete, label %yes, label %undo
yes:
  %claim.p = POOL.claim(%pool)
  store atomic i32 0, ptr %claim.p release, align 4
  ret i32 1
undo:
  call void @end_workers(ptr %pool)
  ret i32 0
}

; End the threads of an idle pool for good; 0 if it is not idle.
define i32 @vg_pool_end(ptr %pool) nounwind {
entry:
  %claim.p = POOL.claim(%pool)
  %pair = cmpxchg ptr %claim.p, i32 0, i32 2 acq_rel monotonic
  %mine = extractvalue { i32, i1 } %pair, 1
  br i1 %mine, label %stop, label %busy
busy:
  ret i32 0
stop:
  call void @end_workers(ptr %pool)
  ret i32 1
}

define internal void @end_workers(ptr %pool) nounwind {
entry:
  %epoch.p = POOL.epoch(%pool)
  %sleepers.p = POOL.sleepers(%pool)
  %door.p = POOL.door(%pool)
  %door.sleepers.p = POOL.door_sleepers(%pool)
  %n = get POOL.num_workers(%pool)
  %threads = get POOL.threads(%pool)
  set POOL.shutdown(%pool) = 1
  call void @advance(ptr %epoch.p, ptr %sleepers.p)
  call void @advance(ptr %door.p, ptr %door.sleepers.p)
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
  ret void
}
"""

_HOST: Final = """
; Start a run on a pool; 0 if it has one already.
define i32 @vg_submit(ptr %pool, ptr %ctx, ptr %main, ptr %helper) nounwind {
entry:
  %claim.p = POOL.claim(%pool)
  %pair = cmpxchg ptr %claim.p, i32 0, i32 1 acq_rel monotonic
  %mine = extractvalue { i32, i1 } %pair, 1
  br i1 %mine, label %begin, label %busy
busy:
  ret i32 0
begin:
  %team.p = POOL.team(%pool)
  %running.p = POOL.running(%pool)
  %epoch.p = POOL.epoch(%pool)
  %sleepers.p = POOL.sleepers(%pool)
  %door.p = POOL.door(%pool)
  %door.sleepers.p = POOL.door_sleepers(%pool)
  set POOL.ctx(%pool) = %ctx
  set POOL.main(%pool) = %main
  set POOL.helper(%pool) = %helper
  set CONTEXT.pool(%ctx) = %pool
  set CONTEXT.in_use(%ctx) = 1
  call void @prepare(ptr %ctx, ptr %pool)
  %word = load atomic i64, ptr %team.p monotonic, align 8
  %turn = lshr i64 %word, 33
  %turn.next = add i64 %turn, 1
  %turn.up = shl i64 %turn.next, 33
  %one = or i64 %turn.up, <MEMBER>
  store atomic i64 %one, ptr %team.p monotonic, align 8
  store atomic i32 1, ptr %running.p release, align 4
  call void @advance(ptr %epoch.p, ptr %sleepers.p)
  %arms = get CONTEXT.arms(%ctx)
  %alone.i = get ARMS.alone(%arms)
  %team = icmp eq i32 %alone.i, 0
  %several = icmp ne ptr %helper, null
  %call = and i1 %team, %several
  br i1 %call, label %others, label %done
others:
  call void @advance(ptr %door.p, ptr %door.sleepers.p)
  br label %done
done:
  ret i32 1
}

; Thresholds at the start of a run: four chunks, until something is known; what is known of other runs of the kernel,
; which were perhaps on another graph, may raise them to sixteen.
define internal void @prepare(ptr %ctx, ptr %pool) nounwind {
entry:
  %few.0 = get POOL.few(%pool)
  %few = call i64 @llvm.umax.i64(i64 %few.0, i64 <FEW>)
  set POOL.few(%pool) = %few
  %spin = get CONTEXT.spin_limit(%ctx)
  set POOL.spin(%pool) = %spin
  %now = call i64 @vg_now()
  set CONTEXT.met(%ctx) = %now
  %arms = get CONTEXT.arms(%ctx)
  %patience = get ARMS.patience(%arms)
  %fresh = icmp eq i64 %patience, 0
  br i1 %fresh, label %hopeful, label %forks
hopeful:
  %until = get POOL.shared_until(%pool)
  %shared = icmp slt i64 %now, %until
  %alone = zext i1 %shared to i32
  set ARMS.patience(%arms) = <PATIENCE>
  set ARMS.left(%arms) = <PATIENCE>
  set ARMS.alone(%arms) = %alone
  br label %forks
forks:
  %count = get CONTEXT.num_forks(%ctx)
  %threads = get CONTEXT.num_threads(%ctx)
  %single = icmp eq i32 %threads, 1
  %steering = get CONTEXT.steering(%ctx)
  %adaptive = icmp eq i32 %steering, <ADAPTIVE>
  %always = select i1 %single, i64 9223372036854775807, i64 -1
  %dice = icmp eq i32 %steering, <RANDOM>
  %enough = select i1 %dice, i32 0, i32 %threads
  set CONTEXT.enough(%ctx) = %enough
  %fixed.0 = xor i1 %adaptive, true
  %fixed = or i1 %single, %fixed.0
  br label %loop
loop:
  %i = phi i32 [ 0, %forks ], [ %next, %each.end ]
  %more = icmp ult i32 %i, %count
  br i1 %more, label %each, label %done
each:
  %next = add i32 %i, 1
  %fork = call ptr @fork_at(ptr %ctx, i32 %next)
  br i1 %fixed, label %set, label %usual
set:
  set FORK.limit(%fork) = %always
  br label %each.end
usual:
  %least = get FORK.least(%fork)
  %rate = get FORK.rate(%fork)
  %unknown = icmp eq i64 %rate, 0
  br i1 %unknown, label %guess, label %limit
guess:
  %items = shl i64 %least, 2
  %rate.guess = udiv i64 <FEW_SCALED>, %items
  %rate.1 = call i64 @llvm.umax.i64(i64 %rate.guess, i64 1)
  set FORK.rate(%fork) = %rate.1
  br label %limit
limit:
  call void @set_limit(ptr %pool, ptr %fork)
  %most = shl i64 %least, 4
  %known = get FORK.limit(%fork)
  %limit.new = call i64 @llvm.umin.i64(i64 %known, i64 %most)
  set FORK.limit(%fork) = %limit.new
  br label %each.end
each.end:
  br label %loop
done:
  ret void
}

; 1 when native code has left the context; 0 after about %ns nanoseconds, or earlier when a signal came.
define i32 @vg_wait(ptr %ctx, i64 %ns) nounwind {
entry:
  %used.p = CONTEXT.in_use(%ctx)
  %pair = cmpxchg ptr %used.p, i32 1, i32 3 seq_cst seq_cst
  %seen = extractvalue { i32, i1 } %pair, 0
  %over = icmp eq i32 %seen, 0
  br i1 %over, label %done, label %nap
nap:
  call void @sleep_while(ptr %used.p, i32 3, i64 %ns)
  br label %done
done:
  %now = load atomic i32, ptr %used.p acquire, align 4
  %left = icmp eq i32 %now, 0
  %left.i = zext i1 %left to i32
  ret i32 %left.i
}

; Ask native code to leave the context and wait until it has, whatever signals come; at once if it is not there.
define void @vg_finish(ptr %ctx) nounwind {
entry:
  %used.p = CONTEXT.in_use(%ctx)
  %cancel.p = CONTEXT.cancel(%ctx)
  %used = load atomic i32, ptr %used.p acquire, align 4
  %out = icmp eq i32 %used, 0
  br i1 %out, label %done, label %cancel
cancel:
  store atomic i32 1, ptr %cancel.p monotonic, align 4
  br label %wait
wait:
  %over = call i32 @vg_wait(ptr %ctx, i64 -1)
  %gone = icmp ne i32 %over, 0
  br i1 %gone, label %done, label %wait
done:
  ret void
}
"""

TEXT: Final = _WORKER + _CREATE + _HOST

"""Whether a loop gets a team: what is measured decides (`Steering.ADAPTIVE`); see `native.py` for the notation.

- A loop gets a team if its work is above `few` ns: items times what an item took before. `few` is 4 times what threads
  lately waited per loop of about that size, but at least FEW and at most MOST ns; it falls back after a while.
- There are two ways, a team for such loops and one thread for everything, and the quicker one wins: how much work, in
  units of what loops took before, gets done per second of the clock. That is known of the way that is taken, window
  by window; the other is tried now and then, ever more rarely while it does not win, and soon when a thread had to
  wait for long, which says that the system did not run another. So it does not matter why a team is slow: other
  processes, uneven work, or data that travel between the caches of cores. Very long loops get a team always.
- A machine is busy if a thread had to wait for long. Then members of a team spin less, and windows are long enough for
  a few turns of the scheduler. It is known to be shared if one thread that waits for nobody was not run for as long:
  what it gets done is up to its share of a processor, which changes from window to window. So new kernels begin with
  one thread, a team is not tried because one thread has become slower, it is tried less often, and it must win
  clearly. Waiting alone does not say so, for uneven work is waited for as well.

What is known of loops and ways is kept with the kernel (`Kernel.learned`); `few`, and until when the machine is called
busy or shared, with the pool.
"""

from __future__ import annotations

from typing import Final

FEW: Final = 2_000
"""Work in ns from which on a loop may get a team on a quiet machine, where a barrier of two threads takes 200."""
FEW_MOST: Final = 1_000_000
FEW_LASTS: Final = 4_000_000
"""ns after which a higher threshold is forgotten."""
NEAR: Final = 16
"""Loops of up to so many times `few` say what waiting costs; in larger ones uneven work is most of it."""
SMALL: Final = 4
"""So many small loops in a row, and the team is dismissed."""
WINDOW: Final = 2_000_000
WINDOW_BUSY: Final = 16_000_000
"""ns of a window; on a busy machine it has a few turns of the scheduler, which are about 3 ms long."""
STALL: Final = 1_000_000
"""Who waits for so many ns waits for somebody whom the system does not run."""
CALM: Final = 64_000_000
"""ns without a stall, and the machine is no longer called busy."""
PATIENCE: Final = 64_000_000
PATIENCE_MOST: Final = 1_000_000_000
"""ns until the other way is tried; twice as long after each trial that it has lost."""
HURRY: Final = 16
"""A stall brings the next trial nearer by so many times its length."""
WARY: Final = 16
"""On a shared machine one thread goes on for so many times longer until a team is tried."""
LONG: Final = 32_000_000
"""ns of work of a loop that gets a team always."""

VALUES: Final = {
    "FEW": FEW, "FEW_MOST": FEW_MOST, "FEW_LASTS": FEW_LASTS, "NEAR": NEAR, "SMALL": SMALL, "WINDOW": WINDOW,
    "WINDOW_BUSY": WINDOW_BUSY, "STALL": STALL, "CALM": CALM, "PATIENCE": PATIENCE, "PATIENCE_MOST": PATIENCE_MOST,
    "HURRY": HURRY, "WARY": WARY, "LONG": LONG, "FEW_SCALED": FEW << 8,
}  # fmt: skip

_MEASURE: Final = """
; The first thread, behind each barrier: what the loop took, what was waited.
define internal void @measure(ptr %ctx, ptr %pool, i64 %waited) nounwind {
entry:
  %steering = get CONTEXT.steering(%ctx)
  %adaptive = icmp eq i32 %steering, <ADAPTIVE>
  br i1 %adaptive, label %account, label %done
account:
  %met = get CONTEXT.met(%ctx)
  %begin = get CONTEXT.loop_begin(%ctx)
  set CONTEXT.loop_begin(%ctx) = %met
  %gap = sub i64 %met, %begin
  %took = call i64 @llvm.smax.i64(i64 %gap, i64 0)
  %members = get CONTEXT.members(%ctx)
  %members.w = zext i32 %members to i64
  %work = mul i64 %took, %members.w
  call void @weigh(ptr %pool, i64 %work, i64 %waited, i64 %met)
  %size = get CONTEXT.loop_size(%ctx)
  set CONTEXT.loop_size(%ctx) = 0
  %measured = icmp ne i64 %size, 0
  br i1 %measured, label %learn, label %look
learn:
  call void @learn(ptr %ctx, ptr %pool, i64 %size, i64 %work, i1 false)
  br label %look
look:
  %stall = icmp uge i64 %waited, <STALL>
  br i1 %stall, label %stalled, label %window
stalled:
  %arms = get CONTEXT.arms(%ctx)
  %now = call i64 @vg_now()
  %calm = add i64 %now, <CALM>
  set POOL.busy_until(%pool) = %calm
  %left = get ARMS.left(%arms)
  %hurry = mul i64 %waited, <HURRY>
  %less = sub i64 %left, %hurry
  set ARMS.left(%arms) = %less
  call void @end_window(ptr %ctx, i64 %now)
  br label %done
window:
  call void @look_at_window(ptr %ctx, i64 %met)
  br label %done
done:
  ret void
}

; What is waited per loop of about this size moves the threshold.
define internal void @weigh(ptr %pool, i64 %work, i64 %waited, i64 %now) nounwind {
entry:
  %few = get POOL.few(%pool)
  %limit = mul i64 %few, <NEAR>
  %near = icmp ule i64 %work, %limit
  br i1 %near, label %move, label %done
move:
  %mean = get POOL.wait_mean(%pool)
  %off = sub i64 %waited, %mean
  %step = sdiv i64 %off, 8
  %mean.new = add i64 %mean, %step
  set POOL.wait_mean(%pool) = %mean.new
  %four = mul i64 %mean.new, 4
  %low = call i64 @llvm.umax.i64(i64 %four, i64 <FEW>)
  %few.new = call i64 @llvm.umin.i64(i64 %low, i64 <FEW_MOST>)
  set POOL.few(%pool) = %few.new
  %until = add i64 %now, <FEW_LASTS>
  set POOL.few_until(%pool) = %until
  br label %done
done:
  ret void
}

define internal ptr @fork_at(ptr %ctx, i32 %k) nounwind {
  %forks = get CONTEXT.forks(%ctx)
  %index = sub i32 %k, 1
  %fork = getelementptr [<FORK_SIZE> x i8], ptr %forks, i32 %index
  ret ptr %fork
}

; The loop at the present fork point is done, and took %work ns, of all threads together. What an item takes one thread
; is the unit of work, so it is learned from a team only as long as nothing better is known.
define internal void @learn(ptr %ctx, ptr %pool, i64 %size, i64 %work, i1 %alone) nounwind {
entry:
  %k = get CONTEXT.loop_fork(%ctx)
  %fork = call ptr @fork_at(ptr %ctx, i32 %k)
  %limit.old = get FORK.limit(%fork)
  %large = icmp ugt i64 %size, %limit.old
  br i1 %large, label %reset, label %look
reset:
  set CONTEXT.small(%ctx) = 0
  br label %look
look:
  %scaled = shl i64 %work, 8
  %seen.0 = udiv i64 %scaled, %size
  %seen = call i64 @llvm.umax.i64(i64 %seen.0, i64 1)
  %arms = get CONTEXT.arms(%ctx)
  %known = get FORK.known(%fork)
  %level = select i1 %alone, i32 2, i32 1
  %never = icmp eq i32 %known, 0
  br i1 %never, label %first, label %count
first:
  set FORK.known(%fork) = %level
  set FORK.next(%fork) = %seen
  set FORK.rate(%fork) = %seen
  call void @set_limit(ptr %pool, ptr %fork)
  ret void
count:
  %rate = get FORK.rate(%fork)
  %credit.scaled = mul i64 %size, %rate
  %credit = lshr i64 %credit.scaled, 8
  %credit.old = get ARMS.work(%arms)
  %credit.new = add i64 %credit.old, %credit
  set ARMS.work(%arms) = %credit.new
  %better = icmp ugt i32 %level, %known
  br i1 %better, label %replace, label %compare
replace:
  set FORK.known(%fork) = %level
  set FORK.next(%fork) = %seen
  set ARMS.moved(%arms) = 1
  ret void
compare:
  %worse = icmp ult i32 %level, %known
  br i1 %worse, label %done, label %mix
mix:
  ; quick to fall, for a thread that was not run makes a loop look long
  %old = get FORK.next(%fork)
  %less = icmp ult i64 %seen, %old
  br i1 %less, label %fall, label %rise
fall:
  %both = add i64 %old, %seen
  %half = lshr i64 %both, 1
  br label %store
rise:
  %off = sub i64 %seen, %old
  %most = call i64 @llvm.umin.i64(i64 %off, i64 %old)
  %step = lshr i64 %most, 3
  %more = add i64 %old, %step
  br label %store
store:
  %next = phi i64 [ %half, %fall ], [ %more, %rise ]
  set FORK.next(%fork) = %next
  br label %done
done:
  ret void
}

; In code for one thread: the end of the loop that it did last, if it was measured.
define internal void @learn_alone(ptr %ctx, ptr %pool, i64 %now) nounwind {
entry:
  %alone = get CONTEXT.loop_alone(%ctx)
  %some = icmp ne i32 %alone, 0
  br i1 %some, label %known, label %done
known:
  set CONTEXT.loop_alone(%ctx) = 0
  %size = get CONTEXT.loop_size(%ctx)
  set CONTEXT.loop_size(%ctx) = 0
  %begin = get CONTEXT.loop_begin(%ctx)
  %took = sub i64 %now, %begin
  call void @learn(ptr %ctx, ptr %pool, i64 %size, i64 %took, i1 true)
  call void @look_at_window(ptr %ctx, i64 %now)
  br label %done
done:
  ret void
}

; The number of items that makes `few` ns, but one chunk at least.
define internal void @set_limit(ptr %pool, ptr %fork) nounwind {
  %few = get POOL.few(%pool)
  %rate = get FORK.rate(%fork)
  %least = get FORK.least(%fork)
  %scaled = shl i64 %few, 8
  %items = udiv i64 %scaled, %rate
  %limit = call i64 @llvm.umax.i64(i64 %items, i64 %least)
  set FORK.limit(%fork) = %limit
  ret void
}

; A higher threshold is forgotten after a while, for in code for one thread nothing is learned about barriers.
define internal void @forget(ptr %ctx, ptr %pool, i64 %now) nounwind {
entry:
  %few = get POOL.few(%pool)
  %until = get POOL.few_until(%pool)
  %raised = icmp ugt i64 %few, <FEW>
  %past = icmp ugt i64 %now, %until
  %due = and i1 %raised, %past
  br i1 %due, label %reset, label %done
reset:
  set POOL.few(%pool) = <FEW>
  set POOL.wait_mean(%pool) = 0
  call void @set_rates(ptr %ctx, ptr %pool)
  br label %done
done:
  ret void
}

; The rates of a new window, and what follows from them.
define internal void @set_rates(ptr %ctx, ptr %pool) nounwind {
entry:
  %count = get CONTEXT.num_forks(%ctx)
  br label %loop
loop:
  %k = phi i32 [ 1, %entry ], [ %following, %set ]
  %more = icmp ule i32 %k, %count
  br i1 %more, label %each, label %done
each:
  %fork = call ptr @fork_at(ptr %ctx, i32 %k)
  %known = get FORK.known(%fork)
  %some = icmp ne i32 %known, 0
  br i1 %some, label %move, label %set
move:
  %next = get FORK.next(%fork)
  set FORK.rate(%fork) = %next
  br label %set
set:
  call void @set_limit(ptr %pool, ptr %fork)
  %following = add i32 %k, 1
  br label %loop
done:
  ret void
}
"""

_WAYS: Final = """
define internal void @look_at_window(ptr %ctx, i64 %now) nounwind {
entry:
  %arms = get CONTEXT.arms(%ctx)
  %pool = get CONTEXT.pool(%ctx)
  %start = get ARMS.start(%arms)
  %wall = sub i64 %now, %start
  %alone.i = get ARMS.alone(%arms)
  %busy = get POOL.busy_until(%pool)
  %calm = icmp uge i64 %now, %busy
  %length = select i1 %calm, i64 <WINDOW>, i64 <WINDOW_BUSY>
  %over = icmp sge i64 %wall, %length
  br i1 %over, label %look, label %done
look:
  ; one thread waits for nobody: if it was not run, others were
  %before = get ARMS.idle(%arms)
  %idle = call i64 @idle()
  %idled = sub i64 %idle, %before
  %stall = icmp sge i64 %idled, <STALL>
  %alone = icmp ne i32 %alone.i, 0
  %others = and i1 %stall, %alone
  br i1 %others, label %longer, label %end
longer:
  %until = add i64 %now, <CALM>
  set POOL.busy_until(%pool) = %until
  set POOL.shared_until(%pool) = %until
  %enough = icmp sge i64 %wall, <WINDOW_BUSY>
  br i1 %enough, label %end, label %done
end:
  call void @end_window(ptr %ctx, i64 %now)
  br label %done
done:
  ret void
}

; How much work the present way has got done in this window joins what it has shown before; then the choice of the way
; for the next one.
define internal void @end_window(ptr %ctx, i64 %now) nounwind {
entry:
  call void @choose(ptr %ctx, i64 %now)
  %pool = get CONTEXT.pool(%ctx)
  call void @set_rates(ptr %ctx, ptr %pool)
  %arms = get CONTEXT.arms(%ctx)
  %moved.i = get ARMS.moved(%arms)
  %moved = icmp ne i32 %moved.i, 0
  br i1 %moved, label %forget, label %done
forget:
  set ARMS.moved(%arms) = 0
  set ARMS.team_work(%arms) = 0
  set ARMS.team_wall(%arms) = 0
  set ARMS.alone_work(%arms) = 0
  set ARMS.alone_wall(%arms) = 0
  br label %done
done:
  ret void
}

define internal void @choose(ptr %ctx, i64 %now) nounwind {
entry:
  %arms = get CONTEXT.arms(%ctx)
  %start = get ARMS.start(%arms)
  %wall = sub i64 %now, %start
  %work = get ARMS.work(%arms)
  set ARMS.start(%arms) = %now
  set ARMS.work(%arms) = 0
  %idle.old = get ARMS.idle(%arms)
  %idle = call i64 @idle()
  set ARMS.idle(%arms) = %idle
  %pool = get CONTEXT.pool(%ctx)
  %busy = get POOL.busy_until(%pool)
  %calm = icmp uge i64 %now, %busy
  %spin = get POOL.spin(%pool)
  %spin.busy = lshr i32 %spin, 3
  %spin.now = select i1 %calm, i32 %spin, i32 %spin.busy
  set CONTEXT.spin_limit(%ctx) = %spin.now
  %shared = get POOL.shared_until(%pool)
  %own = icmp uge i64 %now, %shared
  ; a window of which most was spent on something else says nothing
  %idled = sub i64 %idle, %idle.old
  %ran = sub i64 %wall, %idled
  %sixteen = mul i64 %work, 16
  %measured = icmp sgt i64 %sixteen, %ran
  br i1 %measured, label %account, label %done
account:
  %alone.i = get ARMS.alone(%arms)
  %alone = icmp ne i32 %alone.i, 0
  %team.work = ARMS.team_work(%arms)
  %alone.work = ARMS.alone_work(%arms)
  %team.wall = ARMS.team_wall(%arms)
  %alone.wall = ARMS.alone_wall(%arms)
  %mine.work = select i1 %alone, ptr %alone.work, ptr %team.work
  %mine.wall = select i1 %alone, ptr %alone.wall, ptr %team.wall
  %other.work = select i1 %alone, ptr %team.work, ptr %alone.work
  %other.wall = select i1 %alone, ptr %team.wall, ptr %alone.wall
  call void @join_half(ptr %mine.work, i64 %work)
  call void @join_half(ptr %mine.wall, i64 %wall)
  %mine = call i64 @speed(ptr %mine.work, ptr %mine.wall)
  %other = call i64 @speed(ptr %other.work, ptr %other.wall)
  ; one thread's speed is whatever share the system has given it: where others want it too, a team must win clearly
  %to.team = xor i1 %alone, true
  %unsure.0 = xor i1 %own, true
  %unsure = and i1 %unsure.0, %to.team
  %shift = select i1 %unsure, i64 1, i64 4
  %margin = lshr i64 %other, %shift
  %bar = add i64 %other, %margin
  %trying = get ARMS.trying(%arms)
  %is.trial = icmp ne i32 %trying, 0
  br i1 %is.trial, label %verdict, label %go.on
verdict:
  %better = icmp ugt i64 %mine, %bar
  %early = icmp eq i32 %trying, 1
  %promising = and i1 %better, %early
  br i1 %promising, label %again, label %decide
again:
  set ARMS.trying(%arms) = 2
  br label %done
decide:
  set ARMS.trying(%arms) = 0
  %patience = get ARMS.patience(%arms)
  %twice = shl i64 %patience, 1
  %longer = call i64 @llvm.umin.i64(i64 %twice, i64 <PATIENCE_MOST>)
  %patience.new = select i1 %better, i64 <PATIENCE>, i64 %longer
  set ARMS.patience(%arms) = %patience.new
  set ARMS.left(%arms) = %patience.new
  br i1 %better, label %done, label %change
go.on:
  ; nor does that share say that the machine is free for a team
  %steady = select i1 %alone, i1 %own, i1 true
  %left = get ARMS.left(%arms)
  %late = select i1 %steady, i64 1, i64 <WARY>
  %passed = udiv i64 %wall, %late
  %left.new = sub i64 %left, %passed
  set ARMS.left(%arms) = %left.new
  %due = icmp slt i64 %left.new, 0
  %known = icmp ne i64 %other, 0
  %mine.margin = lshr i64 %mine, 4
  %mine.bar = add i64 %mine, %mine.margin
  %slower.0 = icmp ugt i64 %other, %mine.bar
  %slower.1 = and i1 %known, %slower.0
  %slower = and i1 %steady, %slower.1
  %try = or i1 %due, %slower
  br i1 %try, label %trial, label %done
trial:
  set ARMS.trying(%arms) = 1
  br label %change
change:
  %alone.new = xor i1 %alone, true
  %alone.new.i = zext i1 %alone.new to i32
  set ARMS.alone(%arms) = %alone.new.i
  set CONTEXT.dismiss(%ctx) = %alone.new.i
  br label %done
done:
  ret void
}

define internal void @join_half(ptr %place, i64 %new) nounwind {
  %old = load i64, ptr %place
  %half = lshr i64 %old, 1
  %sum = add i64 %half, %new
  store i64 %sum, ptr %place
  ret void
}

; Work per time, times 1024; 0 if not known.
define internal i64 @speed(ptr %work.p, ptr %wall.p) nounwind {
  %work = load i64, ptr %work.p
  %wall = load i64, ptr %wall.p
  %some = call i64 @llvm.umax.i64(i64 %wall, i64 1)
  %scaled = shl i64 %work, 10
  %speed = udiv i64 %scaled, %some
  ret i64 %speed
}
"""

TEXT: Final = _MEASURE + _WAYS

"""The team of a run: its barrier, who joins it and when, and what decides that; see `native.py` for the notation.

A run begins with one thread, the *first*, in code for one thread. At a *fork point*, the start of a parallel loop, it
may go over to code for a team and open the door: whoever of the pool's other threads is awake joins the loop while it
runs. The door closes when all members have met at the loop's barrier; nobody waits for a thread that did not come.
Members stay in step, barrier by barrier, until the first thread asks for their dismissal: the next barrier that ends
a loop sends them back to the pool. (At others they may hold something that is not yet told: partial sums, vertices in
a buffer.)

All of that is one word, `team`: how many threads have arrived at the barrier (16 bits), how many members there are
(16 bits), whether the door is open (1 bit), and a number that changes with every opening and closing (31 bits). Who
arrives adds 1; who joins compares and swaps, and only while somebody is still in the loop. So the last to arrive
knows that it is the last, and has the word for itself until it closes the door.

What decides whether a loop gets a team stands in `native_ways.py`.
"""

from __future__ import annotations

from typing import Final

from vgraph.compiler.backends.abi import GO_ON, LEAVE, OPEN, Steering

ROUSE: Final = 40_000
"""ns of work that was done without those asleep, after which they are woken: about what waking takes."""

VALUES: Final = {
    "ROUSE": ROUSE, "GO_ON": GO_ON, "OPEN": OPEN, "LEAVE": LEAVE, "MEMBER": 1 << 16, "DOOR": 1 << 32, "TURN": 1 << 33,
    "ADAPTIVE": int(Steering.ADAPTIVE), "TOGETHER": int(Steering.TOGETHER), "RANDOM": int(Steering.RANDOM),
}  # fmt: skip

_BARRIER: Final = """
define i32 @vg_barrier(ptr %ctx, i32 %rank, i32 %generation, i1 %ends) nounwind {
entry:
  %pool = get CONTEXT.pool(%ctx)
  %team.p = POOL.team(%pool)
  %epoch.p = CONTEXT.barrier_epoch(%ctx)
  %sleepers.p = CONTEXT.barrier_sleepers(%ctx)
  %first = icmp eq i32 %rank, 0
  %epoch = load atomic i32, ptr %epoch.p monotonic, align 4
  %began = call i64 @vg_now()
  %arrivals.p = POOL.arrivals(%pool)
  %sum = atomicrmw add ptr %arrivals.p, i64 %began monotonic
  %before = atomicrmw add ptr %team.p, i64 1 acq_rel
  %word = add i64 %before, 1
  %arrived = and i64 %word, 65535
  %members.up = lshr i64 %word, 16
  %members = and i64 %members.up, 65535
  %last = icmp eq i64 %arrived, %members
  br i1 %last, label %latch, label %sleep
latch:
  %now = call i64 @vg_now()
  %members.i = trunc i64 %members to i32
  set CONTEXT.met(%ctx) = %now
  %all = mul i64 %now, %members
  %arrivals = atomicrmw xchg ptr %arrivals.p, i64 0 monotonic
  %wait = sub i64 %all, %arrivals
  %waited.old = get CONTEXT.waited(%ctx)
  %waited.new = add i64 %waited.old, %wait
  set CONTEXT.waited(%ctx) = %waited.new
  set CONTEXT.members(%ctx) = %members.i
  %counter.p = CONTEXT.chunk_counter(%ctx)
  store atomic i64 0, ptr %counter.p monotonic, align 8
  %cancel.p = CONTEXT.cancel(%ctx)
  %status.p = CONTEXT.status(%ctx)
  %cancel = load atomic i32, ptr %cancel.p monotonic, align 4
  %status = load atomic i32, ptr %status.p monotonic, align 4
  %either = or i32 %cancel, %status
  %over = icmp ne i32 %either, 0
  %over.i = zext i1 %over to i32
  set CONTEXT.stop(%ctx) = %over.i
  %asked = get CONTEXT.dismiss(%ctx)
  %wanted = icmp ne i32 %asked, 0
  %dismiss = and i1 %wanted, %ends
  %dismiss.i = zext i1 %dismiss to i32
  %old = get CONTEXT.generation(%ctx)
  %new = add i32 %old, %dismiss.i
  set CONTEXT.generation(%ctx) = %new
  %asked.now = select i1 %dismiss, i32 0, i32 %asked
  set CONTEXT.dismiss(%ctx) = %asked.now
  %stay = select i1 %dismiss, i64 1, i64 %members
  %stay.i = trunc i64 %stay to i32
  set CONTEXT.team(%ctx) = %stay.i
  %turn.old = lshr i64 %word, 33
  %turn = add i64 %turn.old, 1
  %turn.up = shl i64 %turn, 33
  %stay.up = shl i64 %stay, 16
  %closed = or i64 %turn.up, %stay.up
  store atomic i64 %closed, ptr %team.p release, align 8
  call void @advance(ptr %epoch.p, ptr %sleepers.p)
  br label %done
sleep:
  %spin = get CONTEXT.spin_limit(%ctx)
  %slept = call i1 @wait_change(ptr %epoch.p, i32 %epoch, ptr %sleepers.p, i32 %spin)
  %met = get CONTEXT.met(%ctx)
  br i1 %slept, label %woken, label %account
woken:
  %later = call i64 @vg_now()
  br label %account
account:
  %end = phi i64 [ %met, %sleep ], [ %later, %woken ]
  %gap = sub i64 %end, %began
  %waited.here = call i64 @llvm.smax.i64(i64 %gap, i64 0)
  br label %done
done:
  %waited = phi i64 [ 0, %latch ], [ %waited.here, %account ]
  br i1 %first, label %lead, label %follow
lead:
  call void @measure(ptr %ctx, ptr %pool, i64 %waited)
  br label %check
follow:
  %generation.now = get CONTEXT.generation(%ctx)
  %dismissed = icmp ne i32 %generation.now, %generation
  br i1 %dismissed, label %leave, label %check
check:
  %stop = get CONTEXT.stop(%ctx)
  %stopped = icmp ne i32 %stop, 0
  br i1 %stopped, label %leave, label %stays
stays:
  %team = get CONTEXT.team(%ctx)
  ret i32 %team
leave:
  ret i32 0
}
declare i64 @llvm.smax.i64(i64, i64)
"""

_LOOPS: Final = """
define internal i64 @predicted(ptr %ctx, i32 %k, i64 %size) nounwind {
  %fork = call ptr @fork_at(ptr %ctx, i32 %k)
  %rate = get FORK.rate(%fork)
  %scaled = mul i64 %size, %rate
  %work = lshr i64 %scaled, 8
  ret i64 %work
}

define internal i64 @random(ptr %ctx) nounwind {
  %x = get CONTEXT.seed(%ctx)
  %a = shl i64 %x, 13
  %x1 = xor i64 %x, %a
  %b = lshr i64 %x1, 7
  %x2 = xor i64 %x1, %b
  %c = shl i64 %x2, 17
  %x3 = xor i64 %x2, %c
  set CONTEXT.seed(%ctx) = %x3
  %high = lshr i64 %x3, 33
  ret i64 %high
}

; Whether a loop gets a team: while that is the way, and if it is very long.
define internal i1 @wanted(ptr %ctx, i32 %k, i64 %size) nounwind {
entry:
  %arms = get CONTEXT.arms(%ctx)
  %alone.i = get ARMS.alone(%arms)
  %team = icmp eq i32 %alone.i, 0
  br i1 %team, label %yes, label %look
look:
  %work = call i64 @predicted(ptr %ctx, i32 %k, i64 %size)
  %long = icmp uge i64 %work, <LONG>
  ret i1 %long
yes:
  ret i1 true
}

define i32 @vg_fork(ptr %ctx, i32 %k, i64 %size) nounwind {
entry:
  %steering = get CONTEXT.steering(%ctx)
  switch i32 %steering, label %random [ i32 <ADAPTIVE>, label %adaptive i32 <TOGETHER>, label %yes ]
random:
  set CONTEXT.dismiss(%ctx) = 0
  %die = call i64 @random(ptr %ctx)
  %face = and i64 %die, 1
  %won = icmp ne i64 %face, 0
  br i1 %won, label %yes, label %no
adaptive:
  %pool = get CONTEXT.pool(%ctx)
  %now = call i64 @vg_now()
  call void @learn_alone(ptr %ctx, ptr %pool, i64 %now)
  set CONTEXT.loop_begin(%ctx) = %now
  set CONTEXT.loop_fork(%ctx) = %k
  set CONTEXT.loop_size(%ctx) = %size
  %team = call i1 @wanted(ptr %ctx, i32 %k, i64 %size)
  br i1 %team, label %begin, label %alone
alone:
  set CONTEXT.loop_alone(%ctx) = 1
  br label %no
begin:
  set CONTEXT.small(%ctx) = 0
  set CONTEXT.dismiss(%ctx) = 0
  br label %yes
no:
  ret i32 <GO_ON>
yes:
  ret i32 <LEAVE>
}

define i32 @vg_meet(ptr %ctx, i32 %k, i64 %size, i64 %team) nounwind {
entry:
  %steering = get CONTEXT.steering(%ctx)
  %threads.i = get CONTEXT.num_threads(%ctx)
  %threads = zext i32 %threads.i to i64
  %short = icmp ult i64 %team, %threads
  %one = icmp eq i64 %team, 1
  switch i32 %steering, label %random [ i32 <ADAPTIVE>, label %adaptive i32 <TOGETHER>, label %more ]
random:
  %die = call i64 @random(ptr %ctx)
  %face = urem i64 %die, 3
  %opens = icmp eq i64 %face, 0
  %ends = icmp eq i64 %face, 1
  br i1 %opens, label %more, label %close
close:
  br i1 %ends, label %end, label %stay
adaptive:
  %fork = call ptr @fork_at(ptr %ctx, i32 %k)
  %limit = get FORK.limit(%fork)
  %small = icmp ule i64 %size, %limit
  br i1 %small, label %count, label %large
count:
  %n = get CONTEXT.small(%ctx)
  %n.new = add i32 %n, 1
  set CONTEXT.small(%ctx) = %n.new
  %many = icmp uge i32 %n.new, <SMALL>
  %go = or i1 %many, %one
  br i1 %go, label %end, label %stay
end:
  br i1 %one, label %leave, label %dismiss
dismiss:
  set CONTEXT.small(%ctx) = 0
  set CONTEXT.dismiss(%ctx) = 1
  br label %stay
large:
  br i1 %one, label %alone, label %more
alone:
  %wanted = call i1 @wanted(ptr %ctx, i32 %k, i64 %size)
  br i1 %wanted, label %more, label %leave
more:
  br i1 %short, label %open, label %stay
stay:
  ret i32 <GO_ON>
open:
  ret i32 <OPEN>
leave:
  ret i32 <LEAVE>
}

define void @vg_open(ptr %ctx, i32 %k) nounwind {
entry:
  %pool = get CONTEXT.pool(%ctx)
  %team.p = POOL.team(%pool)
  %door.p = POOL.door(%pool)
  %sleepers.p = POOL.door_sleepers(%pool)
  %generation = get CONTEXT.generation(%ctx)
  set POOL.at(%pool) = %k
  set POOL.generation(%pool) = %generation
  %opened = add i64 <TURN>, <DOOR>
  %before = atomicrmw add ptr %team.p, i64 %opened seq_cst
  %steering = get CONTEXT.steering(%ctx)
  %adaptive = icmp eq i32 %steering, <ADAPTIVE>
  br i1 %adaptive, label %weigh, label %rouse
weigh:
  %asleep = load atomic i32, ptr %sleepers.p seq_cst, align 4
  %none = icmp eq i32 %asleep, 0
  br i1 %none, label %done, label %count
count:
  %size = get CONTEXT.loop_size(%ctx)
  %work = call i64 @predicted(ptr %ctx, i32 %k, i64 %size)
  %missed = get POOL.missed(%pool)
  %missed.new = add i64 %missed, %work
  set POOL.missed(%pool) = %missed.new
  %due = icmp uge i64 %missed.new, <ROUSE>
  br i1 %due, label %rouse, label %done
rouse:
  set POOL.missed(%pool) = 0
  call void @advance(ptr %door.p, ptr %sleepers.p)
  switch i32 %steering, label %gather [ i32 <ADAPTIVE>, label %done i32 <RANDOM>, label %throw ]
throw:
  %die = call i64 @random(ptr %ctx)
  %bit = trunc i64 %die to i1
  br i1 %bit, label %gather, label %done
gather:
  %threads.i = get CONTEXT.num_threads(%ctx)
  %threads = zext i32 %threads.i to i64
  br label %look
look:
  %i = phi i64 [ 0, %gather ], [ %i.next, %nap ]
  %word = load atomic i64, ptr %team.p acquire, align 8
  %members.up = lshr i64 %word, 16
  %members = and i64 %members.up, 65535
  %all = icmp uge i64 %members, %threads
  %cancel.p = CONTEXT.cancel(%ctx)
  %cancel = load atomic i32, ptr %cancel.p monotonic, align 4
  %cancelled = icmp ne i32 %cancel, 0
  %enough = or i1 %all, %cancelled
  br i1 %enough, label %done, label %nap
nap:
  %i.next = add i64 %i, 1
  call void @vg_pause(ptr %ctx, i64 %i)
  br label %look
done:
  ret void
}
"""

TEXT: Final = _BARRIER + _LOOPS

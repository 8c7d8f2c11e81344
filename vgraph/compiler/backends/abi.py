"""The layout of every native struct: the one place shared by the LLVM emitter, the native runtime and Python.

Offsets are in bytes. Python allocates zeroed, cache-line-aligned memory and fills it (`context.py`);
native code addresses a field as `getelementptr i8, ptr %ctx, i64 <CONTEXT.offset(name)>`. Fields that threads
contend for stand on cache lines of their own.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np

from vgraph.records import dataclass

LINE: Final = 64
"""Bytes of a cache line."""
CHANNEL_LINES: Final = 3
"""Cache lines before those of a channel's slots: next ticket to fill, next to empty, items published."""

type_sizes: Final = {"i32": 4, "i64": 8, "ptr": 8}
_FORMATS: Final = {"i32": "<u4", "i64": "<u8", "ptr": "<u8"}


@dataclass(frozen=True)
class Field:
    """One field: its byte offset and its LLVM type (`i32`, `i64` or `ptr`; unsigned in Python)."""

    name: str
    offset: int
    type: str


class Layout:
    """A struct given as cache lines: each line is a list of `(name, LLVM type)`, naturally aligned."""

    def __init__(self, name: str, *lines: tuple[tuple[str, str], ...]) -> None:
        self.name = name
        self.fields: dict[str, Field] = {}
        for index, line in enumerate(lines):
            offset = index * LINE
            for field_name, llvm_type in line:
                size = type_sizes[llvm_type]
                offset = -(-offset // size) * size
                self.fields[field_name] = Field(field_name, offset, llvm_type)
                offset += size
            assert offset <= (index + 1) * LINE, f"{name}: line {index} is too long"
        self.size = len(lines) * LINE
        self.dtype = np.dtype(
            {
                "names": list(self.fields),
                "formats": [_FORMATS[f.type] for f in self.fields.values()],
                "offsets": [f.offset for f in self.fields.values()],
                "itemsize": self.size,
            }
        )

    def offset(self, field: str) -> int:
        """Byte offset of `field`."""
        return self.fields[field].offset

    def type(self, field: str) -> str:
        """LLVM type of `field`."""
        return self.fields[field].type


CONTEXT: Final = Layout(
    "Context",
    (  # set by the host before the run, read-only while it runs
        ("num_threads", "i32"),
        ("steering", "i32"),  # a Steering
        ("args", "ptr"),  # u64 slots; a scalar stands in the low bytes of its slot in its own type
        ("results", "ptr"),  # u64 slots, as `args`
        (
            "partials",
            "ptr",
        ),  # partials + rank * partials_stride: a SEAT, and SLOTS bytes behind it reduction slots
        ("partials_stride", "i64"),  # bytes, a multiple of LINE
        ("frontiers", "ptr"),  # array of FRONTIER structs
        ("lists", "ptr"),  # array of LIST structs
        ("buckets", "ptr"),  # pointers to arrays of WORKER structs, one array for each set of buckets
    ),
    (
        ("num_forks", "i32"),
        ("enough", "i32"),  # a team of so many need not ask whether others may come
        ("num_lists", "i32"),
        ("num_buckets", "i32"),
        ("forks", "ptr"),  # array of FORK structs; the fork point numbered k is element k - 1
        ("arms", "ptr"),  # an ARMS struct
        ("state", "ptr"),  # u64 slots: what the first thread hands on at a fork point
        ("pool", "ptr"),  # the pool that runs it, set by `vg_submit`
        ("channel", "ptr"),  # what exchanges with the other members of a set of devices, like `vg_exchange`
        ("peer", "ptr"),  # and what it knows of this member: a PEER struct of `vg_exchange`
    ),
    (  # set by the host at any time (Ctrl-C); polled by native code at each chunk
        ("cancel", "i32"),
        ("halt", "i32"),  # likewise: leave at a fork point, to go on there in another run
    ),
    (  # 1 while native code may touch anything of the run, 3 if the host sleeps until that is over
        ("in_use", "i32"),
    ),
    (("status", "i32"), ("payload", "i64")),  # a Status, the first failure wins; e.g. bytes not to be had
    (  # latched by the first thread at a barrier, so that all agree on it; written only where it changes
        ("stop", "i32"),  # cancel or status: leave the kernel
        ("generation", "i32"),  # goes up when the team is dismissed
        ("team", "i32"),  # threads from this barrier on
    ),
    (("chunk_counter", "i64"),),  # next chunk to hand out; every barrier resets it to 0
    (  # of loops of many chunks
        ("counters", "ptr"),  # the same for each pair of threads, each on a line of its own
        ("blocks", "i64"),  # how many of them the present loop uses; every barrier resets these, and this
    ),
    (
        ("barrier_epoch", "i32"),  # goes up when a barrier lets its threads go
        ("barrier_sleepers", "i32"),  # who waits for that asleep
        ("gather_sleepers", "i32"),  # 1 while the first thread waits for another asleep
        ("spin_limit", "i32"),  # polls before a sleep
    ),
    (  # of the first thread, at the last barrier
        ("members", "i32"),  # threads that met at it
        ("met", "i64"),  # when they did, in ns
        ("lag", "i64"),  # ns that it waited for them
        ("waited", "i64"),  # ns that threads have waited, at all barriers so far
    ),
    (  # of the first thread
        ("dismiss", "i32"),  # asks the next barrier to dismiss the team
        ("small", "i32"),  # small loops in a row
        ("loop_fork", "i32"),  # the fork point of the loop under way
        ("loop_alone", "i32"),  # one thread does it, and it is measured
        ("loop_size", "i64"),  # and its items; 0: not measured
        ("loop_begin", "i64"),
        ("traced", "i64"),  # the part of `waited` that is in records of the trace
        ("seed", "i64"),  # of Steering.RANDOM
        ("skip", "i32"),  # fork points at which it does not halt yet; tests set it
        ("halted", "i32"),  # it did
        ("at", "i32"),  # the fork point where the run begins; 0: the start
    ),
    (  # progress: written by the first thread with plain stores, read by the host at any time
        ("rounds", "i64"),
        ("frontier_size", "i64"),
        ("edges", "i64"),  # edges looked at so far, over all rounds
        (
            "share",
            "ptr",
        ),  # gives a member iterations of divided loops: void (context, i64 of how many, pair of i64)
    ),
    (
        ("trace", "ptr"),  # TRACE_RECORD array, grown by native realloc
        ("trace_length", "i64"),
        ("trace_capacity", "i64"),
        ("trace_limit", "i64"),  # records after this many are counted in trace_dropped only
        ("trace_dropped", "i64"),
    ),
)
"""One run; every kernel function gets a pointer to it."""

SEAT: Final = Layout(
    "Seat",
    (
        ("turn", "i32"),  # the epoch that begins with the barrier at which the thread has arrived
        ("time", "i64"),  # when it did
    ),
)
"""Where a thread arrives at barriers: nobody else writes there. Reduction slots begin on the same line."""
SLOTS: Final = 16
"""Bytes before the reduction slots of a thread."""

FORK: Final = Layout(
    "ForkPoint",
    (
        ("limit", "i64"),  # a loop of so many items is not worth a team
        ("least", "i64"),  # items of one chunk: `limit` is never lower
        ("rate", "i64"),  # ns that an item takes one thread, times 256; the same for a whole window
        ("next", "i64"),  # what it will be in the next
        ("known", "i32"),  # 0: `rate` is a guess; 1: only a team was measured; 2: one thread was
    ),
)
"""What is known of the loop at a fork point."""

ARMS: Final = Layout(
    "Arms",
    (
        ("alone", "i32"),  # the way that is taken: 0 a team, 1 one thread
        ("trying", "i32"),  # 1, 2: it is being tried, in the first or the second window
        ("start", "i64"),  # of the window; between runs the time that it has lasted
        ("idle", "i64"),  # ns in which the first thread was not run, up to its start; between runs, in it
        ("work", "i64"),  # done in it, in ns at the rates that were known
        ("left", "i64"),  # ns until the other way is tried
        ("patience", "i64"),  # what `left` begins with
        ("moved", "i32"),  # a rate is known better now: what the ways have shown is told in another unit
    ),
    (  # what the two ways have shown: work and time, older windows count less
        ("team_work", "i64"),
        ("team_wall", "i64"),
        ("alone_work", "i64"),
        ("alone_wall", "i64"),
    ),
)
"""What is known of a team and of one thread for the loops of a kernel."""

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
    (("team", "i64"),),
    (  # of the first thread (`ways.loops`); kept from run to run
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

FRONTIER: Final = Layout(
    "FrontierDescriptor",
    (
        ("queue", "ptr"),  # vertex ids, u32 or u64 as the graph's
        ("bits", "ptr"),  # bitmap in u64 words, vertex v is bit v % 64 of word v // 64
        ("flags", "ptr"),  # one byte per vertex: already in the queue
        ("capacity", "i64"),  # vertices
        ("layout", "i32"),  # a FrontierLayoutCode
        ("epoch", "i32"),  # 1..255: flags equal to it mark members of the queue
    ),
    (("count", "i64"),),  # members; fetch-added by all threads
)
"""A frontier; its arrays belong to the context."""

LIST: Final = Layout(
    "ListDescriptor",
    (
        ("ids", "ptr"),
        ("ids_length", "i64"),  # ids in all frontiers together
        ("ids_capacity", "i64"),  # ids
        ("offsets", "ptr"),  # u64; frontier k is ids[offsets[k] : offsets[k + 1]]
        ("length", "i64"),  # number of frontiers
        ("offsets_capacity", "i64"),  # u64 entries
        ("id_bytes", "i32"),
    ),
)
"""A growable list of frontiers; ids and offsets are malloc'ed by native code. All zero is the empty list."""

WORKER: Final = Layout(
    "BucketWorker",
    (  # read by other threads after a barrier
        ("lowest", "i64"),  # lowest bucket with entries of this thread; BUCKETS_NONE, or BUCKETS_BEHIND
        ("blocks", "i64"),  # blocks of the bucket under way that this thread filled
        ("table", "ptr"),  # the ends of their entries
        ("queued", "ptr"),  # a byte per vertex, of all threads: pushed since its last visit
        ("entries", "i64"),  # entries of those blocks
        ("tickets", "i64"),  # parts of them that threads take
        ("after", "i64"),  # what `lowest` will be without them
        ("tiles", "ptr"),  # a TILES of all threads, where vertices stand in tiles
    ),
    (
        ("free", "ptr"),  # list of free blocks, linked at their starts
        ("fresh", "ptr"),  # blocks never used, up to
        ("fresh_end", "ptr"),
        ("capacity", "i64"),  # blocks of this thread, and room in its table
        ("slabs", "ptr"),  # list of what was allocated, linked at the starts
        ("chain", "ptr"),  # blocks of the bucket under way that this thread visits alone
        ("held", "ptr"),  # the block that is being visited
        ("cell", "ptr"),  # where the bucket under way is pushed to
    ),
    (
        ("turn", "i64"),  # threads whose blocks are all taken, from this one on
        ("behind", "ptr"),  # cell of entries whose keys are lower than the bucket under way
        ("far", "ptr"),  # cell of entries beyond the circle
        ("far_lowest", "i64"),  # no key among those, when they were put there, was lower
        ("heap", "ptr"),  # strict order: (key, vertex) pairs
        ("heap_length", "i64"),
        ("heap_capacity", "i64"),
    ),
    (("claimed", "i64"),),  # tickets of this thread that any thread has taken
)
"""What one thread keeps of a set of buckets, followed by the cells of its circle of `BUCKETS_CELLS` buckets.

A cell holds the end of the entries in the last block of a chain, 0 for none. A block is aligned to its size and begins
with the cell's value when it was added; so an end at the start of a block is the end of a full one.
"""
TILES: Final = Layout(
    "Tiles",
    (  # read-only while a loop runs
        ("count", "i64"),
        ("least", "ptr"),  # i64 by tile: the lowest key of a vertex that waits, BUCKETS_NONE for none
        ("groups", "ptr"),  # i64 by TILE_GROUP tiles: the lowest of these
        ("busy", "ptr"),  # u32 by tile: whether a thread visits it
    ),
    (("pending", "i64"),),  # tiles that wait or are visited
)
"""Ranges of vertices with buckets of their own."""
TILE_GROUP: Final = 64
"""Tiles that are looked at together, by whoever looks for the lowest."""
BUCKETS_CELLS: Final = 1024
"""Buckets in the circle, a power of two."""
WORKER_STRIDE: Final = WORKER.size + 8 * BUCKETS_CELLS
BUCKETS_NONE: Final = (1 << 63) - 1
BUCKETS_BEHIND: Final = -(1 << 63)

MAIL: Final = Layout(
    "Mail",
    (
        ("out", "ptr"),
        ("got", "ptr"),
        ("way", "i64"),  # a Way
        ("bytes", "i64"),  # of an element
    ),
)
"""One pair of buffers of an exchange; generated code has an array of them on its stack."""

PEER: Final = Layout(
    "Peer",
    (  # set by the host before the run
        ("set", "ptr"),  # the SET
        ("ghosts", "ptr"),  # u64; the ghosts that member k owns are those from ghosts[k] to ghosts[k + 1]
        ("shared", "ptr"),  # u64; what member k has as ghosts, likewise
        (
            "sent",
            "ptr",
        ),  # u64; of each turn, where what goes to member k begins and ends among all of that turn
        ("came", "ptr"),  # and where what comes from it
        ("number", "i64"),
        (
            "outs",
            "ptr",
        ),  # room for what `out` is in each MAIL of an exchange: others may look when it has left
        ("desk", "ptr"),  # the DESK of a GPU, for which a thread of the host stands here
    ),
    (  # bytes from others so far, and ns that it waited for them
        ("received", "i64"),
        ("waited", "i64"),
    ),
)
"""A member of a set of devices, as the channel of this process's memory knows it."""

DESK: Final = Layout(
    "Desk",
    (  # written by the GPU
        ("asked", "i64"),  # how often it has asked
        ("mails", "i64"),  # for an exchange of so many; 0: for iterations of a divided loop
        ("count", "i64"),  # of so many
        ("got", "ptr"),  # which come here
    ),
    (("answered", "i64"), ("left", "i64")),  # how often it was answered; the host has seen that it has ended
)
"""Where a GPU asks a thread of the host to act for it, followed by its MAIL records; in memory that both can reach."""

SET: Final = Layout(
    "Set",
    (("members", "i64"), ("peers", "ptr"), ("spin_limit", "i32")),  # an array of PEER structs
    (("arrived", "i32"), ("epoch", "i32"), ("sleepers", "i32")),
)
"""A set of devices that run one program, and the barrier at which they meet."""

TRACE_RECORD: Final = np.dtype(
    [
        ("label", "<i4"),
        ("direction", "<i4"),
        ("frontier", "<i8"),
        ("edges", "<i8"),
        ("ns", "<i8"),  # duration of the round
        ("end_ns", "<i8"),  # monotonic clock at its end, where all threads had met
        ("waited_ns", "<i8"),  # what all threads together waited at its barriers
    ]
)
"""One round of one traversal, 48 bytes."""


class Steering(IntEnum):
    """Who decides how many threads a parallel loop gets."""

    ADAPTIVE = 0
    """What has been measured."""
    TOGETHER = 1
    """Always all, who wait for each other at the start."""
    RANDOM = 2
    """A die: one thread, whoever comes, or all, anew for each loop. For tests of all the ways from one to the other."""


class Status(IntEnum):
    """Why native code left early."""

    OK = 0
    OUT_OF_MEMORY = 1
    """`payload`: bytes asked for."""
    OUT_OF_RANGE = 2
    """`payload`: the offending value."""
    DIVERGED = 3
    """`payload`: rounds run when a bound that guarantees the end was passed (e.g. a negative cycle)."""
    ABORTED = 4
    """The program ended itself. `payload`: number of its message in the kernel's interface."""


class Way(IntEnum):
    """Who gets what in an exchange."""

    OWNERS = 0
    """Owners get what is held at their vertices' ghosts."""
    GHOSTS = 1
    """Ghosts get what their owners hold."""
    ALL = 2
    """Everybody gets an element of each member."""
    EACH = 3
    """The same, but of each the one that is for it: how many elements it gets of those in the first two ways."""
    TURNS = 4
    """Who has vertices in the next turn gets what is held there; of turn t this is 4 + t."""


class FrontierLayoutCode(IntEnum):
    """Which array of a frontier is valid."""

    SPARSE = 0
    BITMAP = 1


DECLARATIONS: Final[dict[str, str]] = {
    "vg_barrier": "i32 @vg_barrier(ptr, i32, i32, i1)",
    "vg_arrive": "i32 @vg_arrive(ptr, i32, i32)",
    "vg_gather": "void @vg_gather(ptr, i1)",
    "vg_resume": "i32 @vg_resume(ptr)",
    "vg_fork": "i32 @vg_fork(ptr, i32, i64)",
    "vg_meet": "i32 @vg_meet(ptr, i32, i64, i64)",
    "vg_open": "void @vg_open(ptr, i32)",
    "vg_now": "i64 @vg_now()",
    "vg_pause": "void @vg_pause(ptr, i64)",
    "vg_fail": "void @vg_fail(ptr, i32, i64)",
    "vg_trace": "void @vg_trace(ptr, i32, i32, i64, i64, i64, i64)",
    "vg_buckets_grow": "i1 @vg_buckets_grow(ptr, ptr, i64)",
    "vg_heap_grow": "i1 @vg_heap_grow(ptr, ptr)",
    "vg_list_append": "void @vg_list_append(ptr, ptr, ptr, i64, i32)",
    "vg_list_length": "i64 @vg_list_length(ptr)",
    "vg_list_ids": "ptr @vg_list_ids(ptr, i64)",
    "vg_list_count": "i64 @vg_list_count(ptr, i64)",
    "vg_list_pop": "void @vg_list_pop(ptr)",
    "vg_list_clear": "void @vg_list_clear(ptr)",
    "vg_list_free": "void @vg_list_free(ptr)",
}
"""What generated code may call; print each as `declare <text> nounwind`.

- `vg_barrier(ctx, rank, generation, ends)` gives the number of threads in the team from here on, or 0: leave the kernel
  now. It resets `chunk_counter`. `ends`: a loop ends here, so that the team may be dismissed; `members` still tells how
  many threads have met. Code for one thread does without it. `vg_gather(ctx, ends)` and `vg_resume(ctx)` of the first
  thread, `vg_arrive(ctx, rank, generation)` of the others, are the same with room between the two for what one thread
  does while the others wait.
- `vg_fork(ctx, k, items)`, in code for one thread: `LEAVE` if the loop of so many items at fork point k gets a team,
  else `GO_ON`.
- `vg_meet(ctx, k, items, team)`, in code for a team, first thread only: `GO_ON`, `OPEN` or `LEAVE`.
- `vg_open(ctx, k)`: others may come to the loop at fork point k, until its first barrier.
- `vg_now()` is a monotonic clock in ns.
- `vg_pause(ctx, tries)` lets a moment pass for a thread that has looked `tries` times in vain: a pause of the
  processor up to `spin_limit` tries, then the CPU is left to others.
- `vg_fail(ctx, status, payload)` records the first failure; the next barrier latches `stop`.
- `vg_trace(ctx, label, direction, frontier, edges, ns, end_ns)` is called by one thread per round; it also advances
  `rounds` and `edges` and sets `frontier_size`.
- `vg_buckets_grow(ctx, worker, block_bytes)` gives a WORKER more blocks, `vg_heap_grow(ctx, worker)` more room in its
  heap; false, and a recorded failure, when memory is out.
- `vg_list_append(ctx, list, ids, count, id_bytes)` copies `count` ids; one thread calls it.
  `vg_list_ids(list, k)` and `vg_list_count(list, k)` give frontier k, `vg_list_pop` drops the last one.
  Pointers are valid until the next append.
"""

GO_ON, OPEN, LEAVE = 0, 1, 2
"""Answers of `vg_meet`: the team stays as it is; others may come; one thread had better go on alone."""

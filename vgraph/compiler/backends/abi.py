"""The layout of every native struct: the one place shared by the LLVM emitter, the native runtime and Python.

Offsets are in bytes. Python allocates zeroed, cache-line-aligned memory and fills it through the views below;
native code addresses a field as `getelementptr i8, ptr %ctx, i64 <CONTEXT.offset(name)>`. Fields that threads
contend for stand on cache lines of their own.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

LINE: Final = 64
"""Bytes of a cache line."""
MAX_THREADS: Final = 1024
CHANNEL_LINES: Final = 3
"""Cache lines before those of a channel's slots: next ticket to fill, next to empty, producers that are done."""

type_sizes: Final = {"i32": 4, "i64": 8, "ptr": 8}
_FORMATS: Final = {"i32": "<u4", "i64": "<u8", "ptr": "<u8"}

Bytes = npt.NDArray[np.uint8]
AnyArray = npt.NDArray[Any]


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
        ("spin_limit", "i32"),  # polls of a waiting thread before it sleeps; 0 when threads outnumber CPUs
        ("args", "ptr"),  # u64 slots; a scalar stands in the low bytes of its slot in its own type
        ("results", "ptr"),  # u64 slots, as `args`
        ("partials", "ptr"),  # reduction slots: partials + tid * partials_stride + 8 * slot
        ("partials_stride", "i64"),  # bytes, a multiple of LINE
        ("frontiers", "ptr"),  # array of FRONTIER structs
        ("lists", "ptr"),  # array of LIST structs
        ("buckets", "ptr"),  # pointers to arrays of WORKER structs, one array for each set of buckets
    ),
    (  # set by the host at any time (Ctrl-C); polled by native code at each chunk
        ("cancel", "i32"),
    ),
    (  # `stop` (cancel or status) is latched by the last thread at a barrier, so all threads agree on it
        ("stop", "i32"),
        ("status", "i32"),  # a Status; the first failure wins
        ("payload", "i64"),  # belongs to `status`, e.g. the bytes that could not be allocated
    ),
    (("chunk_counter", "i64"),),  # next chunk to hand out; every barrier resets it to 0
    (("barrier_arrived", "i32"),),
    (("barrier_epoch", "i32"), ("barrier_sleepers", "i32")),
    (  # progress: written by thread 0 with plain stores, read by the host at any time
        ("rounds", "i64"),
        ("frontier_size", "i64"),
        ("edges", "i64"),  # edges looked at so far, over all rounds
    ),
    (
        ("trace", "ptr"),  # TRACE_RECORD array, grown by native realloc
        ("trace_length", "i64"),
        ("trace_capacity", "i64"),
        ("trace_limit", "i64"),  # records after this many are counted in trace_dropped only
        ("trace_dropped", "i64"),
    ),
)
"""One run: `void kernel(ptr ctx, i32 tid)` gets a pointer to it."""

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
        ("turn", "i64"),  # whose shared blocks are being handed out
        ("turn_base", "i64"),  # the first ticket for them
        ("behind", "ptr"),  # cell of entries whose keys are lower than the bucket under way
        ("far", "ptr"),  # cell of entries beyond the circle
        ("far_lowest", "i64"),  # no key among those, when they were put there, was lower
        ("heap", "ptr"),  # strict order: (key, vertex) pairs
        ("heap_length", "i64"),
        ("heap_capacity", "i64"),
    ),
)
"""What one thread keeps of a set of buckets, followed by the cells of its circle of `BUCKETS_CELLS` buckets.

A cell holds the end of the entries in the last block of a chain, 0 for none. A block is aligned to its size and begins
with the cell's value when it was added; so an end at the start of a block is the end of a full one.
"""
BUCKETS_CELLS: Final = 1024
"""Buckets in the circle, a power of two."""
WORKER_STRIDE: Final = WORKER.size + 8 * BUCKETS_CELLS
BUCKETS_NONE: Final = (1 << 63) - 1
BUCKETS_BEHIND: Final = -(1 << 63)

TRACE_RECORD: Final = np.dtype(
    [
        ("label", "<i4"),
        ("direction", "<i4"),
        ("frontier", "<i8"),
        ("edges", "<i8"),
        ("ns", "<i8"),  # duration of the round
        ("end_ns", "<i8"),  # monotonic clock at its end
    ]
)
"""One round of one traversal, 40 bytes."""


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


class FrontierLayoutCode(IntEnum):
    """Which array of a frontier is valid."""

    SPARSE = 0
    BITMAP = 1


DECLARATIONS: Final[dict[str, str]] = {
    "vg_barrier": "i32 @vg_barrier(ptr)",
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

- `vg_barrier(ctx)` returns the latched `stop`: the same value in all threads, nonzero means leave the kernel
  now. It resets `chunk_counter`. With one thread it does the same and never waits.
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

POOL_EXPORTS: Final = ("vg_pool_create", "vg_pool_submit", "vg_pool_wait", "vg_pool_destroy")
"""What only the host calls (see `vgraph.runtime.threads`)."""


def aligned_zeros(nbytes: int) -> Bytes:
    """A zeroed buffer of `nbytes` bytes (at least one line) that starts on a cache line."""
    raw = np.zeros(max(nbytes, LINE) + LINE, np.uint8)
    start = -raw.ctypes.data % LINE
    return raw[start : start + max(nbytes, LINE)]


def _round_up(nbytes: int) -> int:
    return -(-nbytes // LINE) * LINE


class ContextView:
    """A `Context` in Python's hands: allocates it and all it points to, and keeps its arrays alive.

    `num_args` and `num_results` count u64 slots, `num_slots` the reduction slots of each thread. Free the
    memory that native code allocated (trace, lists) with `close()`, or use it as a context manager.
    """

    def __init__(
        self,
        num_threads: int,
        *,
        num_args: int = 0,
        num_results: int = 0,
        num_slots: int = 0,
        num_frontiers: int = 0,
        num_lists: int = 0,
        num_buckets: int = 0,
        spin_limit: int = 0,
        trace_limit: int = 1 << 20,
    ) -> None:
        assert 1 <= num_threads <= MAX_THREADS
        self.busy = False  # native code runs: nothing may be freed
        self._buffer = aligned_zeros(CONTEXT.size)
        self._fields = self._buffer.view(CONTEXT.dtype)
        self._keep: list[AnyArray] = []
        stride = _round_up(8 * num_slots)
        self._args = aligned_zeros(8 * num_args)
        self._results = aligned_zeros(8 * num_results)
        self.partials: AnyArray = aligned_zeros(num_threads * stride)[: num_threads * stride]
        self._frontiers = aligned_zeros(max(1, num_frontiers) * FRONTIER.size).view(FRONTIER.dtype)
        self._lists = aligned_zeros(num_lists * LIST.size).view(LIST.dtype)
        self._num_args, self._num_results, self._num_slots = num_args, num_results, num_slots
        self._num_frontiers, self._num_lists = num_frontiers, num_lists
        pointers: dict[str, AnyArray] = {
            "args": self._args,
            "results": self._results,
            "partials": self.partials,
        }
        self._workers = [aligned_zeros(num_threads * WORKER_STRIDE) for _ in range(num_buckets)]
        buckets = np.array([w.ctypes.data for w in self._workers], np.uint64)
        pointers |= {"frontiers": self._frontiers, "lists": self._lists, "buckets": buckets}
        self._keep.append(buckets)
        for name, array in pointers.items():
            self._fields[name] = array.ctypes.data
        self._fields["num_threads"] = num_threads
        self._fields["spin_limit"] = spin_limit
        self._fields["partials_stride"] = stride
        self._fields["trace_limit"] = trace_limit

    @property
    def address(self) -> int:
        """Where the struct lies."""
        return int(self._buffer.ctypes.data)

    def get(self, field: str) -> int:
        """The present value of a field; safe while native code runs."""
        return int(self._fields[field][0])

    def set(self, field: str, value: int) -> None:
        """Store into a field."""
        self._fields[field] = value

    def cancel(self) -> None:
        """Ask native code to leave at its next chunk or round."""
        self._fields["cancel"] = 1

    @property
    def status(self) -> Status:
        """The first failure that native code recorded, or `Status.OK`."""
        return Status(self.get("status"))

    # --- arguments and results -----------------------------------------------------------------------------

    def set_array(self, slot: int, array: AnyArray | None) -> None:
        """Pass the address of a C-contiguous array (None: null); it is kept alive."""
        if array is None:
            self._store(slot, b"")
            return
        assert array.flags.c_contiguous
        self._keep.append(array)
        self.set_pointer(slot, array.ctypes.data)

    def set_pointer(self, slot: int, address: int) -> None:
        """Pass a raw address."""
        self._store(slot, struct.pack("<Q", address))

    def set_scalar(self, slot: int, value: float | np.generic, dtype: npt.DTypeLike) -> None:
        """Pass a scalar: native code loads `dtype` straight from the slot's address (bool: one byte)."""
        self._store(slot, np.asarray(value).astype(dtype, casting="unsafe").tobytes())

    def _store(self, slot: int, data: bytes) -> None:
        assert 0 <= slot < self._num_args
        assert len(data) <= 8
        self._args[8 * slot : 8 * slot + 8] = np.frombuffer(data.ljust(8, b"\0"), np.uint8)

    def result(self, slot: int, dtype: npt.DTypeLike) -> Any:
        """The scalar that native code stored as `dtype` at the start of result `slot`."""
        assert 0 <= slot < self._num_results
        return self._results[8 * slot : 8 * slot + 8].view(dtype)[0]

    # --- frontiers, lists, trace ---------------------------------------------------------------------------

    def add_frontier(
        self, index: int, capacity: int, id_dtype: npt.DTypeLike, *, bitmap: bool, flags: bool
    ) -> None:
        """Allocate an empty sparse frontier of `capacity` vertices; bitmap and in-queue flags if asked."""
        assert 0 <= index < self._num_frontiers
        arrays: dict[str, AnyArray] = {"queue": np.empty(capacity, id_dtype)}
        if bitmap:
            arrays["bits"] = aligned_zeros(8 * -(-capacity // 64))
        if flags:
            arrays["flags"] = np.zeros(capacity, np.uint8)
        for name, array in arrays.items():
            self._keep.append(array)
            self._frontiers[name][index] = array.ctypes.data
        self._frontiers["capacity"][index] = capacity
        self._frontiers["epoch"][index] = 1

    def add_buckets(self, index: int, capacity: int) -> None:
        """Allocate what a set of buckets of `capacity` vertices keeps per vertex."""
        queued = np.zeros(capacity, np.uint8)
        self._keep.append(queued)
        workers = self._workers[index]
        for k in range(0, len(workers) - WORKER_STRIDE + 1, WORKER_STRIDE):
            workers[k : k + WORKER.size].view(WORKER.dtype)["queued"] = queued.ctypes.data

    def frontier_address(self, index: int) -> int:
        """Address of frontier descriptor `index`."""
        return int(self._frontiers.ctypes.data) + index * FRONTIER.size

    def frontier_field(self, index: int, field: str) -> int:
        """The present value of a field of frontier `index`."""
        return int(self._frontiers[field][index])

    def list_address(self, index: int) -> int:
        """Address of list descriptor `index`."""
        return int(self._lists.ctypes.data) + index * LIST.size

    def list_frontier(self, index: int, position: int) -> AnyArray:
        """A copy of the ids of frontier `position` of list `index`."""
        entry = self._lists[index]
        assert 0 <= position < int(entry["length"])
        dtype = np.dtype(f"<u{int(entry['id_bytes'])}")
        start, end = (
            _copy(int(entry["offsets"]) + 8 * (position + k), 8, np.dtype("<u8"))[0] for k in (0, 1)
        )
        return _copy(
            int(entry["ids"]) + int(start) * dtype.itemsize, int(end - start) * dtype.itemsize, dtype
        )

    def list_length(self, index: int) -> int:
        """Number of frontiers in list `index`."""
        return int(self._lists["length"][index])

    def trace(self) -> AnyArray:
        """A copy of the trace, one `TRACE_RECORD` per round."""
        return _copy(self.get("trace"), self.get("trace_length") * TRACE_RECORD.itemsize, TRACE_RECORD)

    def close(self) -> None:
        """Free what native code allocated; nothing while it runs."""
        if self.busy:
            return
        free = ctypes.CDLL(None).free
        free.argtypes, free.restype = [ctypes.c_void_p], None
        owned = [(self._fields, "trace"), *((self._lists[k : k + 1], n) for k in range(self._num_lists)
                                            for n in ("ids", "offsets"))]  # fmt: skip
        for fields, name in owned:
            if address := int(fields[name][0]):
                free(address)
                fields[name] = 0
        for workers in self._workers:
            for k in range(0, len(workers) - WORKER_STRIDE + 1, WORKER_STRIDE):
                _free_worker(workers[k : k + WORKER.size].view(WORKER.dtype), free)
            workers[:] = 0
        self._fields["trace_length"] = self._fields["trace_capacity"] = 0
        self._lists[:] = np.zeros((), LIST.dtype)

    def __enter__(self) -> ContextView:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_lists"):
            self.close()


def _free_worker(fields: AnyArray, free: Callable[[int], None]) -> None:
    slab = int(fields["slabs"][0])
    while slab:
        following = ctypes.c_uint64.from_address(slab).value
        free(slab)
        slab = following
    for name in ("table", "heap"):
        if address := int(fields[name][0]):
            free(address)


def _copy(address: int, nbytes: int, dtype: np.dtype[Any]) -> AnyArray:
    return np.frombuffer(ctypes.string_at(address, nbytes) if nbytes else b"", dtype)

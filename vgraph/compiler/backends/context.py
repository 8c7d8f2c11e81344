"""A run's `Context` (`abi.py`) in Python's hands."""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from vgraph.compiler.backends.abi import (
    ARMS,
    CONTEXT,
    FORK,
    FRONTIER,
    LINE,
    LIST,
    SLOTS,
    TILE_GROUP,
    TILES,
    TRACE_RECORD,
    WORKER,
    WORKER_STRIDE,
    Status,
    type_sizes,
)
from vgraph.cpus import MAX_THREADS

Bytes = npt.NDArray[np.uint8]
AnyArray = npt.NDArray[Any]
_WORDS: Final = {name: (f.type, f.offset // type_sizes[f.type]) for name, f in CONTEXT.fields.items()}
"""Of each field the type of its words, and which word it is."""


def aligned_zeros(nbytes: int) -> Bytes:
    """A zeroed buffer of `nbytes` bytes (at least one line) that starts on a cache line."""
    return _aligned(np.zeros, max(nbytes, LINE))


def _aligned(make: Callable[..., Bytes], nbytes: int) -> Bytes:
    raw = make(nbytes + LINE, np.uint8)
    start = -raw.ctypes.data % LINE
    return raw[start : start + nbytes]


def _round_up(nbytes: int) -> int:
    return -(-nbytes // LINE) * LINE


@functools.lru_cache(maxsize=256)
def _places(
    partials: int,
    counters: int,
    args: int,
    results: int,
    frontiers: int,
    lists: int,
    buckets: int,
    forks: int,
    state: int,
) -> tuple[Mapping[str, tuple[int, int]], int]:
    """Where what a context points to begins and ends in one buffer, the context first, and the bytes of that."""
    sizes = {
        "args": 8 * args,
        "results": 8 * results,
        "partials": partials,
        "counters": counters,
        "frontiers": frontiers * FRONTIER.size,
        "lists": lists * LIST.size,
        "buckets": 8 * buckets,
        "forks": forks * FORK.size,
        "arms": ARMS.size,
        "state": 8 * state,
    }
    places, total = {}, CONTEXT.size
    for name, nbytes in sizes.items():
        places[name] = total, total + nbytes
        total += _round_up(max(nbytes, 1))
    return places, total


class ContextView:
    """A `Context` in Python's hands: allocates it and all it points to, and keeps its arrays alive.

    `num_args` and `num_results` count u64 slots, `num_slots` the reduction slots of each thread, `num_state` the
    u64 slots that a fork point hands on; `forks` has the items of the smallest chunk at each fork point. Free the
    memory that native code allocated (trace, lists, buckets) with `close()`, or use it as a context manager.
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
        num_state: int = 0,
        forks: Sequence[int] = (),
        trace_limit: int = 1 << 20,
    ) -> None:
        assert 1 <= num_threads <= MAX_THREADS
        self.release: Callable[[int], None] | None = None
        """Frees what native code allocated for the context at an address; set by who runs it."""
        stride = _round_up(SLOTS + 8 * num_slots)
        numbers = {"threads": num_threads, "forks": len(forks), "lists": num_lists, "buckets": num_buckets}
        counts = num_args, num_results, max(1, num_frontiers), num_lists, num_buckets, len(forks), num_state
        places, total = _places(num_threads * stride, (num_threads + 1) // 2 * LINE, *counts)
        self._buffer = aligned_zeros(total)
        self.address = int(self._buffer.ctypes.data)
        """Where the struct lies."""
        self._words = {"i32": memoryview(self._buffer).cast("I"), "i64": memoryview(self._buffer).cast("Q")}  # type: ignore[arg-type]
        self._words["ptr"] = self._words["i64"]
        self._keep: list[object] = []

        def part(name: str) -> Bytes:
            return self._buffer[slice(*places[name])]

        self._arg_word, self._results = places["args"][0] // 8, part("results")
        self.partials: AnyArray = part("partials")
        self._frontiers, self._lists = part("frontiers").view(FRONTIER.dtype), part("lists").view(LIST.dtype)
        self._num_args, self._num_results, self._num_frontiers = num_args, num_results, num_frontiers
        self._of_frontiers: dict[str, AnyArray] = {}
        """Memory of frontiers, a row for each; native code swaps them."""
        self._forks, self._arms = part("forks").view(FORK.dtype), part("arms").view(ARMS.dtype)
        self._forks["least"] = forks
        self._workers = [aligned_zeros(num_threads * WORKER_STRIDE) for _ in range(num_buckets)]
        part("buckets").view(np.uint64)[:] = [w.ctypes.data for w in self._workers]
        self.state: Bytes = part("state")
        """What is handed on at a fork point."""
        for name, (start, _) in places.items():
            self.set(name, self.address + start)
        for name, count in numbers.items():
            self.set(f"num_{name}", count)
        self.set("partials_stride", stride)
        self.set("trace_limit", trace_limit)

    def get(self, field: str) -> int:
        """The present value of a field; safe while native code runs."""
        words, place = _WORDS[field]
        return self._words[words][place]

    def set(self, field: str, value: int) -> None:
        """Store into a field."""
        words, place = _WORDS[field]
        self._words[words][place] = value

    def cancel(self) -> None:
        """Ask native code to leave at its next chunk or round."""
        self.set("cancel", 1)

    def halt(self) -> None:
        """Ask native code to leave at its next fork point. It may overlook that, for it sets limits of its own: ask
        again until it has."""
        self.set("halt", 1)
        self.set("enough", 0)
        self._forks["limit"] = (1 << 64) - 1  # -1: all ask

    @property
    def halted(self) -> bool:
        """Whether native code has left at a fork point, and goes on there if it is run again."""
        return self.get("halted") != 0

    @property
    def busy(self) -> bool:
        """Whether native code may touch it, or anything it points to: nothing of it may be freed."""
        return self.get("in_use") != 0

    def keep(self, thing: object) -> None:
        """Keep `thing`, e.g. the machine code that runs, alive as long as the context."""
        self._keep.append(thing)

    def learned(self) -> tuple[AnyArray, AnyArray]:
        """What native code knows of the loops at the fork points, and of teams."""
        return self._forks.copy(), self._arms.copy()

    def recall(self, learned: tuple[AnyArray, AnyArray]) -> None:
        """Begin with what another run of the same kernel has learned."""
        self._forks[:], self._arms[:] = learned

    @property
    def waited(self) -> float:
        """Seconds that all threads together waited at barriers."""
        return self.get("waited") * 1e-9

    @property
    def status(self) -> Status:
        """The first failure that native code recorded, or `Status.OK`."""
        return Status(self.get("status"))

    # --- arguments and results -----------------------------------------------------------------------------

    def set_array(self, slot: int, array: AnyArray | None) -> None:
        """Pass the address of a C-contiguous array (None: null); it is kept alive."""
        if array is None:
            self.set_pointer(slot, 0)
            return
        assert array.flags.c_contiguous
        self._keep.append(array)
        self.set_pointer(slot, array.__array_interface__["data"][0])

    def set_pointer(self, slot: int, address: int) -> None:
        """Pass a raw address."""
        assert 0 <= slot < self._num_args
        self._words["ptr"][self._arg_word + slot] = address

    def set_scalar(self, slot: int, value: float | np.generic, dtype: npt.DTypeLike) -> None:
        """Pass a scalar: native code loads `dtype` straight from the slot's address (bool: one byte)."""
        data = np.asarray(value).astype(dtype, casting="unsafe").tobytes()
        assert len(data) <= 8
        self.set_pointer(slot, int.from_bytes(data, sys.byteorder))

    def result(self, slot: int, dtype: npt.DTypeLike) -> Any:
        """The scalar that native code stored as `dtype` at the start of result `slot`."""
        assert 0 <= slot < self._num_results
        return self._results[8 * slot : 8 * slot + 8].view(dtype)[0]

    # --- frontiers, lists, trace ---------------------------------------------------------------------------

    def add_frontiers(
        self, capacity: int, id_dtype: npt.DTypeLike, bitmaps: Sequence[bool], flags: Sequence[bool]
    ) -> None:
        """Allocate empty sparse frontiers of `capacity` vertices; for each whether it has a bitmap, in-queue flags."""
        assert len(bitmaps) == len(flags) == self._num_frontiers
        rows, count = self._frontiers[: len(flags)], len(flags)
        for name, make, asked, nbytes in (
            ("queue", np.empty, [True] * count, capacity * np.dtype(id_dtype).itemsize),
            ("bits", np.zeros, bitmaps, 8 * -(-capacity // 64)),
            ("flags", np.zeros, flags, capacity),
        ):
            if any(asked):
                stride = _round_up(max(nbytes, 1))
                block = _aligned(make, count * stride).reshape(count, stride)
                base = block.ctypes.data
                rows[name] = [base + stride * k if wanted else 0 for k, wanted in enumerate(asked)]
                self._of_frontiers[name] = block
        rows["capacity"] = capacity
        rows["epoch"] = 1
        self._ids = np.dtype(id_dtype)

    def add_buckets(self, index: int, capacity: int, tile: int) -> None:
        """Allocate what a set of buckets of `capacity` vertices keeps per vertex, and per `tile` vertices, if there are
        tiles."""
        queued = aligned_zeros(_round_up(capacity))  # whole words
        tiles = aligned_zeros(TILES.size).view(TILES.dtype)
        count = -(-capacity // tile) if tile else 0
        parts = {"least": 8 * count, "groups": 8 * -(-count // TILE_GROUP), "busy": 4 * count}
        tiles["count"] = count
        for name, nbytes in parts.items():
            self._keep.append(part := aligned_zeros(nbytes))
            tiles[name] = part.ctypes.data
        self._keep += [queued, tiles]
        workers = self._workers[index]
        for k in range(0, len(workers) - WORKER_STRIDE + 1, WORKER_STRIDE):
            worker = workers[k : k + WORKER.size].view(WORKER.dtype)
            worker["queued"], worker["tiles"] = queued.ctypes.data, tiles.ctypes.data

    def renumber(self, renumber: Callable[[AnyArray], AnyArray], place: npt.NDArray[np.int64]) -> None:
        """Put all frontiers into another order of vertices: `renumber` of ids, row v of what was in row `place[v]`."""
        for entry in self._frontiers[: self._num_frontiers]:
            queue, packed, flags = (self._row(name, int(entry[name])) for name in ("queue", "bits", "flags"))
            assert queue is not None
            ids = queue.view(self._ids)[: int(entry["count"])]
            ids[:] = renumber(ids)
            if packed is not None:
                bits = np.unpackbits(packed, bitorder="little")
                bits[: place.size] = bits[place]
                packed[:] = np.packbits(bits, bitorder="little")
            if flags is not None:
                flags[: place.size] = flags[place]
        for entry in self._lists[: self.get("num_lists")]:
            nbytes = int(entry["ids_length"]) * int(entry["id_bytes"])
            if nbytes:
                held = np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(int(entry["ids"])))
                ids = held.view(f"<u{int(entry['id_bytes'])}")
                ids[:] = renumber(ids)

    def _row(self, name: str, address: int) -> AnyArray | None:
        """The memory of a frontier that begins there."""
        if not address:
            return None
        block = self._of_frontiers[name]
        found: AnyArray = block[(address - block.ctypes.data) // block.shape[1]]
        return found

    def trace(self) -> AnyArray:
        """A copy of the trace, one `TRACE_RECORD` per round."""
        return _copy(self.get("trace"), self.get("trace_length") * TRACE_RECORD.itemsize, TRACE_RECORD)

    def close(self) -> None:
        """Free what native code allocated; nothing while it runs."""
        if self.release is not None and not self.busy:
            self.release(self.address)  # one call, so that no interrupt comes between `free` and forgetting

    def __enter__(self) -> ContextView:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_workers"):
            self.close()


def _copy(address: int, nbytes: int, dtype: np.dtype[Any]) -> AnyArray:
    return np.frombuffer(ctypes.string_at(address, nbytes) if nbytes else b"", dtype)

"""Where a CUDA kernel finds its memory: the words of its argument, and of the block that it shares with the host.

`vg_main` has one parameter, `Args`, passed by value: 8-byte words (addresses, or scalars in the low bytes), in this
order:

1. the address of the `Control` block;
2. one word for each `KernelInterface.args`;
3. for each frontier: the queue (ids, room for all vertices), the bitmap (u64 words; 0 without one), the flags (u32
   per vertex, zero at the start; 0 without);
4. for each list of frontiers: the ids of all its frontiers one behind the other, where each begins (u64, one more
   than frontiers), room for ids, room for frontiers;
5. for each set of buckets: `BUCKET_QUEUES` queues of ids with room for all vertices each, then `BUCKET_MARKS` arrays
   of a u32 per vertex, zero at the start;
6. the address of the trace (`TRACE_WORDS` u64 per record) and how many records it has room for;
7. how many workers have scratch memory: for each `scratch` argument, `num_vertices` zeroed elements per worker, for
   each `touched`, as many ids;
8. of a member of a set, if the program exchanges anything or divides loops: the address of its `Peers`
   (`include/channel.cuh`).

`Control` lies in device memory and is zero when a kernel starts. The host may write `cancel` and read everything
while the kernel runs.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

from vgraph.compiler.backends.base import KernelInterface
from vgraph.records import dataclass

BLOCK: Final = 512
"""Threads of a block: fixed when a kernel is compiled, as the macro VG_BLOCK. Measured on an H200 against 256 and 1024,
with as many registers as let 1024, 1536 or 2048 threads run on a multiprocessor: 512 and 1536 were best or within 3 %
of it in search, shortest paths, PageRank and components, on a Kronecker graph and on a road grid."""
WHOLE_BLOCK: Final = 1024
"""The same of kernels whose blocks take a multiprocessor each, with all of its shared memory."""
CREW: Final = 16
"""Blocks of a cluster that runs a kernel by itself, CREW_BLOCKS in `types.cuh`."""
ARRAYS_OF_FRONTIER: Final = 3
WORDS_OF_LIST: Final = 4
BUCKET_QUEUES: Final = 4
BUCKET_MARKS: Final = 2
TRACE_WORDS: Final = 6
"""label, direction, active, edges, nanoseconds since the record before, 0."""
COUNTERS: Final = 4
"""Counters of a frontier take turns, so that one is zeroed while another is in use."""
TURNS: Final = 3
"""Sets of slots for global reductions, which take turns."""


@dataclass(frozen=True)
class ControlLayout:
    """Offsets in the `Control` block, in 8-byte words. `size`: words in all."""

    interface: KernelInterface

    # Words of fixed places: two u32 each in the first two.
    BARRIER: int = 0
    """u64: arrivals at barriers so far; the highest bit asks all blocks to leave."""
    CANCEL: int = 1
    """u32 cancel (the host writes 1 to stop the run), u32 status (`Status`; 0 while running and when done)."""
    PAYLOAD: int = 2
    """Number of the message of `fail`; with status OVERFLOW what was too small, see `Room`."""
    TRACE: int = 3
    """Records of the trace; more than there is room for are counted but not kept."""
    NEEDED: int = 4
    """With status OVERFLOW: room that would have been enough as far as was seen."""
    HUBS: int = 5
    """Two u64, of load balancers."""
    PROGRESS: int = 7
    """Rounds done (u32), vertices of the last one (u32): for a progress bar."""
    RESULTS: int = 8

    @cached_property
    def counters(self) -> int:
        """Frontier k has words `counters + COUNTERS * k` and following."""
        return self.RESULTS + len(self.interface.results)

    @cached_property
    def lists(self) -> int:
        """List k: word `lists + k`, frontiers in it."""
        return self.counters + COUNTERS * len(self.interface.frontiers)

    @cached_property
    def buckets(self) -> int:
        """Set k of buckets: words `buckets + COUNTERS * BUCKET_QUEUES * k` and following."""
        return self.lists + len(self.interface.lists)

    @cached_property
    def slots(self) -> int:
        """Slots of global reductions: `TURNS` sets of `interface.num_slots`."""
        return self.buckets + COUNTERS * BUCKET_QUEUES * len(self.interface.buckets)

    @cached_property
    def size(self) -> int:
        """Words of the whole block."""
        return self.slots + TURNS * self.interface.num_slots


OVERFLOW: Final = 100
"""Status: a list of frontiers was full. PAYLOAD is its number, NEEDED the ids it should hold; the host runs again."""
PEERS_RECEIVED: Final = 3
"""Word of a member's `Peers`: bytes that it got from others; `PEERS_WAITED`: nanoseconds that it waited for them."""
PEERS_WAITED: Final = 4
PEERS_DESK: Final = 5
"""And where its desk is, if it finds the others through the host."""
STALLED: Final = 101
"""Status: of a set of devices member PAYLOAD did not come to an exchange."""


def num_words(interface: KernelInterface) -> int:
    """8-byte words of `Args`."""
    return (
        1
        + len(interface.args)
        + ARRAYS_OF_FRONTIER * len(interface.frontiers)
        + WORDS_OF_LIST * len(interface.lists)
        + (BUCKET_QUEUES + BUCKET_MARKS) * len(interface.buckets)
        + 3
        + interface.joins
    )

"""The numbers by which vgraph chooses for the user, each with its source; more in `depth.py` and `ordering.py`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.compiler import facts
from vgraph.compiler.facts import Facts
from vgraph.graph.layouts.deltas import near_rows
from vgraph.graph.layouts.sell import arcs_of_a_row
from vgraph.graph.orient import has_parallel_arcs
from vgraph.records import dataclass
from vgraph.runtime import caches
from vgraph.runtime.depth import is_deep, is_narrow
from vgraph.schedule import delta_stepping

if TYPE_CHECKING:
    from vgraph.graph import Graph
    from vgraph.schedule import Schedule

DELTA: Final = "policy.delta:"
DELTA_FACTOR: Final = 4.0
"""Buckets are this many times the average weight over the average degree wide; wider on GPUs for deep graphs (below).
On 1 and 2 threads of a CPU, SSSP on Kronecker graphs took 1.3 to 1.5 times as long with 32 as the best schedule did,
and on a road network 4 and 32 differ by a few per cent."""
DEEP_DELTA_FACTOR: Final = 8.0
DEEP_THREADS: Final = 4
"""The same on deep graphs with so many threads of a CPU: of short rounds barriers are more. On a road grid 8 instead
of 4 took 1.10 times as long with one thread, 1.17 with two, 0.94 with 4 and 0.81 to 0.89 with 16; 16 takes longer
again."""
CUDA_DELTA_FACTOR: Final = 4.0
CUDA_DEEP_DELTA_FACTOR: Final = 64.0
"""The same on a GPU, and there on deep graphs, whose rounds are short. Measured on an H200: on a Kronecker graph of
scale 22 a factor of 4 takes 0.86 of the time that 32 takes, on a road grid 64 takes 0.95 (cuGraph and SEP-Graph, Wang
et al. 2019: 32)."""

LARGE: Final = 1 << 17
"""Arcs from which on schedules matter."""
HUB: Final = 64
"""A vertex with more than this part of all arcs is a hub that others wait for: with T threads and chunks of vertices a
round lasts at most 1/T of the work and one vertex longer (Graham 1969)."""
BLOCK_ROW: Final = 4096
"""Arcs of a vertex that one block of a GPU may walk alone."""
LONG_ROW: Final = 1024
"""Arcs of a vertex that are shared on a GPU in small graphs, too: one thread takes a third of a microsecond for each
(errors of all ratings of MovieLens, small, whose busiest user has 2391, in 0.85 ms, shared in 0.07; H200)."""
PULL_SHARE: Final = 15
"""A search turns to pulling when more than 1/15 of the arcs not yet walked leave its frontier: the constant of
Beamer, Asanovic and Patterson 2012, section VI, and of GAP's bfs (alpha)."""
SWEEP_SHARE: Final = 8
"""To look once at every vertex costs as much as to push along 1/8 as many arcs: measured on Kronecker graphs."""
CUDA_PUSHED_ARCS: Final = 1 << 19
CUDA_PULLED_ARCS: Final = 1 << 21
"""A GPU pushes along so many in any case, and unless they are nearly all. Searches on an H200, ms, with 0, 2^17, 2^19,
2^20 and 2^22 for both: facebook 0.142, 0.09, 0.09, 0.09, 0.08, ego-Twitter 0.226, 0.226, 0.155, 0.149, 0.144, R-MAT of
scale 16 0.087, 0.087, 0.085, 0.099, 0.112; betweenness 0.222 to 0.168, 0.415 to 0.391, no change."""
EVEN: Final = 4  # times the mean, at most, where degrees are even
LONG_ROUNDS: Final = 1 << 26
"""Arcs from which on cascades of graphs of even degrees are left to rounds. On an H200, k-core of random graphs with
cascades of 16 hops and by rounds, ms: 8.4 M arcs 0.47 and 1.03, 16.8 M 0.96 and 1.83; of 134 M rounds are best."""
SLIM: Final = 72
SLIM_VERTICES: Final = 1 << 20
"""Two lists of at most so many arcs are merged by one thread of a GPU, if there are so many vertices. On an H200,
triangles of random graphs, merged by threads and marked by warps, ms: 2^20 vertices of at most 26 arcs 0.31 and 0.93,
39 arcs 0.88 and 1.65, 50 arcs 1.89 and 2.37, 62 arcs 3.17 and 3.31; 2^22 of at most 67 arcs 11.0 and 13.5; 2^18 of at
most 46 arcs 0.66 and 0.52."""
GATHER_SHARE: Final = 8
"""The same for sums behind a guard, whose pull walks all arcs into open vertices, but without atomics: pull when more
than 1/8 of the arcs not yet walked leave the frontier. On an H200 (rmat22) an arc of a large push takes 0.107 ns, that
of a gather 0.011. Measured on CPUs on betweenness from 4 sources with 1 to 30 instead (kron18 and a uniform graph of
2^18 vertices with 1 and 2 threads, a road network with 1; busy machine, medians of 4): 1 took 1.1 to 3.8 times as long,
pulls alone 1.3 to 4.1, pushes alone 0.97 to 1.5; 2 to 30 could not be told apart (0.7 to 1.5 times, in both
directions), so little hangs on the exact number there."""
HALVING_VERTICES: Final = 1 << 21
"""Unions halve paths on graphs of more vertices. Components on an H200: 1.63 ms without and 1.09 with it on rmat22 (4.2
million vertices), but 0.24 and 0.34 to 0.42 on rmat18 (0.26), where all threads meet at the same few places at once."""
PUSH_SHARE: Final = 18
"""It turns back when less than 1/18 of all vertices are in the frontier: GAP's bfs (beta)."""
SET_SHARE: Final = 64
"""Members of a set pull where more than 1/64 of all vertices are active. They have to agree, so nothing is asked that
they count by themselves; and in a search the few vertices that have most arcs come before most of the vertices."""
CHANGED_FACTOR: Final = 4
CHANGED_BYTES: Final = 1 << 14
"""Members tell what has changed where four times its bytes and 16 KiB are less than all: to put one value at its place
takes longer than to copy it among others, and counting takes some microseconds. Shortest paths with two groups of 8
threads on rmat17 (5.6 MB in all, 1.6 changed) took 5.8 ms with all, 11.6 with changes alone, 7.2 with whichever was
fewer bytes; on a grid of 512 x 512 with random owners (2,133 and 86 MB) 304 and 275. A search on a grid of 256 x 256
beside a GPU took 20 and 28 with ranges (2.1 and 0.02 MB), 41 and 29 with random owners (250 and 0.75)."""
CHANNEL_ARCS: Final = 4096
"""Arcs for which a slot between two phases has room, unless a vertex has more: 16 KiB of 4-byte values, so that a
few slots stay in the cache between producer and consumer."""
CHANNEL_PLACES: Final = 1024
"""The same in vertices, where a slot has an element per vertex."""


def channel_room(site: str, graph: Graph) -> int:
    """Elements in one slot of a buffer of `site`: all arcs of a vertex always fit."""
    if site == "place":
        return CHANNEL_PLACES
    if site == "edge_in":
        return max(CHANNEL_ARCS, max_in_degree(graph))
    return max(CHANNEL_ARCS, graph.max_degree)


def max_in_degree(graph: Graph) -> int:
    """The largest in-degree; 0 without vertices. Builds the transpose."""
    return int(graph.kept_with_topology("largest in-degree", lambda: int(graph.in_degree.max(initial=0))))


QUEUE_SHARE: Final = 16
"""A frontier of more than 1/16 of all vertices is pushed from a bitmap (GSWITCH, Meng et al. 2019: 6 %)."""

SHORT_LIST: Final = 4
"""Arcs per vertex below which lists are merged, not marked. Measured in counting triangles: on a road network (3.6
arcs) marking took 1.1 to 1.3 times as long as merging, on power-law and uniform graphs (14 and more) a tenth."""


NEAR_SHARE: Final = 0.9
"""Rows are read as differences where so many of them are whole in a word: else warps wait for the rows that are not. To
make them takes as long as 150 rounds of PageRank on a road grid save (H200), and a second where CuPy compiles."""


def facts_of(graph: Graph, device: str = "cpu") -> Facts:
    """What is known of `graph` before a program is compiled for it on `device`.

    Cache segments are for CPUs: a GPU hides the latency of the reads that they make local.
    """
    large = graph.num_arcs >= LARGE
    even = device == "cuda" and graph.max_degree * graph.num_vertices <= EVEN * graph.num_arcs
    return Facts(
        directed=graph.directed,
        large=large,
        hubs=_waits_for_one(graph, device, large),
        even=even,
        long_rounds=even and graph.num_arcs >= LONG_ROUNDS and not is_deep(graph),
        slim=device == "cuda" and graph.max_degree <= SLIM and graph.num_vertices >= SLIM_VERTICES,
        heavy=large and device == "cpu" and graph.max_degree * HUB * PULL_SHARE > graph.num_arcs,
        deep=large and is_deep(graph),
        narrow=large and device == "cuda" and is_narrow(graph),
        short_lists=large and graph.num_arcs < SHORT_LIST * graph.num_vertices,
        long_lists=device == "cuda" and graph.num_arcs >= SHORT_LIST * graph.num_vertices,
        bitmaps=(device == "cpu" or (device == "cuda" and settled(graph) and hubs_first(graph)))
        and worth_bitmaps(graph),
        slices=(device == "cuda" and worth_slices(graph) and settled(graph))
        or (device == "cpu" and graph.num_arcs >= SLICED and worth_rows_side_by_side(graph)),
        near=large and device == "cuda" and settled(graph) and near_rows(graph) >= NEAR_SHARE,
        segments=1 if device == "cuda" else _segments_for(graph),
    )


def _waits_for_one(graph: Graph, device: str, large: bool) -> bool:
    """`Facts.hubs`."""
    if device == "cuda":
        least = BLOCK_ROW + 1 if large else max(LONG_ROW, graph.num_arcs // HUB + 1)
        return graph.max_degree >= least
    return large and graph.max_degree * HUB > graph.num_arcs


def crowd(threads: int) -> int:
    """`Facts.crowd` of so many threads."""
    return max((most for most in (8, 16) if threads >= most), default=0)


LONG_LISTS: Final = 40
"""Arcs of the list that an arc leads from, on average over all arcs, from which on bitmaps of hubs are made."""
HUBS: Final = 1 << 14
HUB_SHARE: Final = 0.5
"""So large a part of all arcs has to lead to so many vertices."""
MISSED: Final = 0.1
"""So much less of them a sample of arcs alone finds: the 0.57 of a Kronecker graph of scale 20 it takes for less than a
half. Where degrees are known as much more has to be there, so that both choose alike."""
HUB_SAMPLE: Final = 1 << 18
"""Arcs of which that is asked where nothing but arcs tells how many lead to a vertex."""
FACT_SAMPLE: Final = 1 << 13
"""Arcs, and vertices, of which it is asked otherwise, and how long lists are: half a millisecond, for facts are found
out before the first run on a graph, whatever is run."""


def worth_bitmaps(graph: Graph) -> bool:
    """Whether what neighbor lists have in common is sooner found by bitmaps of hubs, which have to be made."""

    def look() -> bool:
        n, rows, some = graph.num_vertices, graph.out.row_offsets, graph.out.neighbors_at
        if graph.num_arcs < LARGE or graph.max_degree < LONG_LISTS:
            return False
        arcs = _spread(graph.num_arcs)
        lengths = _degrees(rows, np.searchsorted(rows, arcs.astype(rows.dtype), side="right") - 1)
        if lengths.mean() < LONG_LISTS:
            return False
        if not graph.directed:  # as many arcs lead to a vertex as leave it
            least = np.quantile(_degrees(rows, _spread(n)), max(0.0, 1 - HUBS / n))
            return float((_degrees(rows, some(arcs)) >= least).mean()) >= HUB_SHARE + MISSED
        ends = some(np.arange(0, graph.num_arcs, -(-graph.num_arcs // HUB_SAMPLE)))
        often = np.bincount(
            ends[::2], minlength=n
        )  # in one half of the ends are hubs found, the other is asked
        at_least = np.cumsum(np.bincount(often)[::-1])[::-1]
        hubs = often >= int(np.argmax(at_least <= HUBS))
        return float(hubs[ends[1::2]].mean()) >= HUB_SHARE

    return graph.kept_with_topology("worth bitmaps", look)


def hubs_first(graph: Graph) -> bool:
    """Whether low numbers are those of hubs: of an orientation by degree, and what is in that order."""

    def look() -> bool:
        ends = graph.out.neighbors_at(np.arange(0, graph.num_arcs, max(1, -(-graph.num_arcs // HUB_SAMPLE))))
        return ends.size > 0 and float((ends < 1 << 16).mean()) >= HUB_SHARE

    return graph.kept_with_topology("hubs first", look)


def _spread(count: int) -> NDArray[np.int64]:
    """Numbers below `count`, FACT_SAMPLE of them at most, spread evenly."""
    return np.arange(0, count, -(-count // FACT_SAMPLE))


def _degrees(rows: NDArray[Any], vertices: NDArray[Any]) -> NDArray[np.int64]:
    places = vertices.astype(np.int64)
    found: NDArray[np.int64] = rows[places + 1].astype(np.int64) - rows[places].astype(np.int64)
    return found


SLICED: Final = 1 << 20
"""Arcs from which on slices are chosen, of vertices with SEGMENT_DEGREE arcs each. Measured on an H200, PageRank in
float32, ms per iteration as it was and with slices: R-MAT of scale 18 0.069 and 0.031, of scale 22 1.01 and 0.41, in
the order of degrees 0.79 and 0.19; building takes 5 ms, 25 ms, and 13 ms."""
SETTLED_RUNS: Final = 10
"""Runs on one graph after which more are expected: by then a layout costs less than what it would have saved."""


@dataclass
class Uses:
    """What was run on the arcs of a graph in this process, on GPUs where nothing else is said."""

    runs: int = 0
    """With room for layouts."""
    pulls: float = 0.0
    """Times that all arcs were pulled along, on CPUs."""
    orders: int = 0
    """Runs, on any device, that left the order of vertices open before anybody looked for one."""
    prepared: bool = False
    """Whether somebody said that there will be more."""
    short: bool = False
    """Whether there was no room for layouts that nobody asked for."""


def uses(graph: Graph) -> Uses:
    """Of all graphs with the same arcs."""
    return graph.kept_with_topology("uses", Uses)


BUILDING: Final = 160
"""Bytes for each arc that building a layout takes for a while: slices with weights of 8 bytes, with NumPy, take 35 with
64 arcs per vertex, 80 with 16 and 148 with one."""


def note_run(graph: Graph, free: int) -> None:
    """Count a run on a GPU with so many bytes of free memory; one without room for layouts does not count."""
    uses(graph).runs += free > BUILDING * graph.num_arcs


PAYING_PULLS: Final = 40
"""Times that all arcs are pulled along after which slices for a CPU would have paid, and as many more are expected: who
buys when so much rent is paid never pays more than twice the least. Measured with one thread (Zen 4, a busy machine),
PageRank in float32, ms a round as it was and in slices, and to build them: kron18 10.3, 5.7 and 70; cnr-2000 2.8, 1.9
and 31; dblp-2010 3.4, 1.6 and 19; ego-Twitter 1.5, 0.8 and 14; USA-road-FLA 7.9, 3.7 and 58; uniform arcs, 8 of each of
2^18 vertices, 3.6, 2.4 and 39: after 10 to 33 rounds."""
SLICED_ROW: Final = 2.0
"""Arcs of a row from which on: shorter ones cost more than they save. By arcs of a row, the time of a round to that
without: 9.7 and 12.7 0.66 and 0.54, 3.9 0.47, 2.4 0.47, 2.0 0.66; uniform arcs with 1.5 and 1.3 1.5 and 1.1."""


_LIKE: Final = 256
"""Kinds of runs on a graph of which it is known how long they take."""


def seconds_seen(graph: Graph, like: Hashable) -> dict[str, tuple[int, float]]:
    """How many runs of a kind were on this graph where "auto" chose the device, and what they took at least, by what it
    chose."""
    return _seen(graph).get(like, {})


def note_seconds(graph: Graph, like: Hashable, chosen: str, seconds: float) -> None:
    """Remember what such a run took."""
    seen = _seen(graph)
    if like in seen or len(seen) < _LIKE:
        runs, least = seen.setdefault(like, {}).get(chosen, (0, seconds))
        seen[like][chosen] = runs + 1, min(least, seconds)


def _seen(graph: Graph) -> dict[Hashable, dict[str, tuple[int, float]]]:
    return graph.kept_with_topology("seconds seen", dict)


def note_pulls(graph: Graph, arcs: int) -> None:
    """Count the arcs of rounds that pulled, on a CPU."""
    uses(graph).pulls += arcs / max(1, graph.num_arcs)


def worth_rows_side_by_side(graph: Graph) -> bool:
    """Whether pulls on a CPU had better walk slices: there will be many, rows are long enough, and the processor
    gathers 16 values at a time. Without in-arcs nothing pulls."""
    from vgraph.compiler.backends.jit import wide_gathers

    known = uses(graph)
    many = known.prepared or known.pulls >= PAYING_PULLS
    return many and graph.has_transpose and wide_gathers() and arcs_of_a_row(graph) >= SLICED_ROW


def settled(graph: Graph) -> bool:
    """Whether so much will be run on a graph that making layouts of its arcs pays."""
    known = uses(graph)
    return not known.short and (known.prepared or known.runs >= SETTLED_RUNS)


def expect_runs(graph: Graph) -> None:
    """More will be run on a graph, so layouts pay; and there is room, as far as one knows."""
    known = uses(graph)
    known.prepared, known.short = True, False


def forgo_layouts(graph: Graph, known: Facts) -> bool:
    """There was no room for a run: choose no layouts for this graph from now on. False if there are none to forgo."""
    uses(graph).short = known.slices or known.near or known.bitmaps
    return uses(graph).short


def worth_slices(graph: Graph) -> bool:
    """Whether pulls on a GPU are quicker by slices, once these are built."""
    return graph.num_arcs >= max(SLICED, SEGMENT_DEGREE * graph.num_vertices)


def _segments_for(graph: Graph) -> int:
    return cache_segments(graph.num_vertices, graph.num_arcs, caches.last_level())


SEGMENT_SHARE: Final = 4
"""The values of one segment take at most this part of the last-level cache: 1 / 4 (measured, see `performance.md`).

The rest is for the arcs that stream through it, and for what other cores do."""
SEGMENT_DEGREE: Final = 8
"""Arcs per vertex under which a graph is not cut: each visit of a vertex costs as much as some four arcs."""


def cache_segments(num_vertices: int, num_arcs: int, cache: int) -> int:
    """`Facts.segments`: into how many parts of the cache 4 bytes for every vertex fall, rounded up to a power of 2."""
    parts = -(-4 * num_vertices * SEGMENT_SHARE // cache)
    if parts <= 1 or num_arcs < SEGMENT_DEGREE * num_vertices:
        return 1
    return 1 << (parts - 1).bit_length()


SPLIT_LEAST: Final = 1024
"""Arcs of a piece of a split vertex at least: below, taking a piece costs more than it spreads."""
BUCKETS: Final = 10
"""Of the histogram of degrees from which the limit of node splitting follows."""


CUDA_SPLIT: Final = 1024
CUDA_PUSH_SPLIT: Final = 512
"""The same on a GPU: 32 arcs for each lane of a warp, and 16 along the arcs that leave. Measured on an H200, Kronecker
graph of scale 22: a search takes 0.55 of the time with the limit from the histogram, a round of PageRank 0.97 of that
with 4096; shortest paths take 3.76 ms with 256, 3.68 with 512 and 3.92 with 1024."""


def split_limit(degrees: NDArray[Any]) -> int:
    """The largest degree of a vertex that is not split (MDA), at least SPLIT_LEAST.

    In a histogram of degrees with 10 equal buckets up to the largest, the largest degree in the fullest bucket (Vivek
    K. 2013, section 4.2.1).
    """
    largest = int(degrees.max(initial=0))
    if largest <= SPLIT_LEAST:
        return SPLIT_LEAST
    bounds = np.linspace(0, largest, BUCKETS + 1)
    counts, _ = np.histogram(degrees, bounds)
    fullest = int(np.argmax(counts))
    low, high = bounds[fullest], bounds[fullest + 1]
    inside = degrees[(degrees >= low) & (degrees <= high if fullest == BUCKETS - 1 else degrees < high)]
    return max(SPLIT_LEAST, int(inside.max()))


def with_deltas(
    schedule: Schedule, parameters: Iterable[str], graph: Graph, device: str = "cpu", threads: int = 1
) -> Schedule:
    """A resolved schedule with the widths of buckets that a kernel with these hidden parameters uses on `graph`."""
    for name in parameters:
        if name.startswith(DELTA):
            label, _, weight = name.removeprefix(DELTA).rpartition(":")
            if schedule.labels[label].order.kind == "delta":  # else the label has unordered applies, too
                schedule = schedule.at(label, order=delta_stepping(delta(graph, weight, device, threads)))
    return schedule


def delta(graph: Graph, weight: str = "", device: str = "cpu", threads: int = 1) -> float:
    """The width of a bucket: the device's factor * average weight / average degree; 1 without weights."""
    if not weight or not graph.num_arcs:
        return 1.0
    factor = DEEP_DELTA_FACTOR if threads >= DEEP_THREADS and is_deep(graph) else DELTA_FACTOR
    if device == "cuda":
        factor = CUDA_DEEP_DELTA_FACTOR if is_deep(graph) else CUDA_DELTA_FACTOR
    found = factor * graph.edge_property_mean(weight) * graph.num_vertices / graph.num_arcs
    return found if 0 < found < math.inf else 1.0


LOCK_NS: Final = 22
BARRIER_NS: Final = 10_000
"""What two locks of an arc take, and a barrier of a phase in which a team has work. Measured with 2 threads on 2 busy
cores: a ring of 2^17 vertices whose ends meet in the middle takes 17.6 ns for an arc alone and 2 * 20.1 with locks; a
plan of 47,336 phases for 882,510 ratings takes 558 ms where rows take 48."""


_NUMBERS: Final[dict[str, float | Callable[[Graph], float]]] = {
    "policy.pull_share": PULL_SHARE,
    "policy.gather_share": GATHER_SHARE,
    "policy.halving_vertices": HALVING_VERTICES,
    "policy.queue_share": QUEUE_SHARE,
    "policy.push_share": PUSH_SHARE,
    "policy.set_share": SET_SHARE,
    "policy.changed_factor": CHANGED_FACTOR,
    "policy.changed_bytes": CHANGED_BYTES,
    "policy.lock_ns": LOCK_NS,
    "policy.barrier_ns": BARRIER_NS,
    "graph.max_degree": lambda graph: graph.max_degree,
    "graph.max_in_degree": max_in_degree,
    facts.TRANSPOSED: lambda graph: graph.has_transpose,
    facts.PARALLEL: has_parallel_arcs,
    "graph.num_edges": lambda graph: graph.num_edges,  # arcs are counted by the kernel's interface
}
"""The hidden parameters that are the same on all devices, by name."""


def number(name: str, graph: Graph, device: str = "cpu", threads: int = 1) -> float:
    """The value of a kernel's hidden parameter `graph.*` or `policy.*` on `graph`."""
    if name in ("policy.split.out", "policy.split.in"):
        out = name.endswith("out")
        if device == "cuda":
            return CUDA_PUSH_SPLIT if out else CUDA_SPLIT
        limit = graph.kept_with_topology(
            name, lambda: split_limit(graph.out_degree if out else graph.in_degree)
        )
        return float(limit)
    if name == "policy.pushed_arcs":
        return max(graph.num_vertices // SWEEP_SHARE, CUDA_PUSHED_ARCS if device == "cuda" else 0)
    if name == "policy.pulled_arcs":
        return CUDA_PULLED_ARCS if device == "cuda" else 0
    if name.startswith(DELTA):  # policy.delta:<label>:<edge property or nothing>
        return 1 / delta(graph, name.rpartition(":")[2], device, threads)
    found = _NUMBERS[name]
    return found(graph) if callable(found) else found


def with_numbers(text: str, graph: Graph, device: str = "cpu", threads: int = 1) -> str:
    """`text` with the names of hidden parameters replaced by their values on `graph`."""
    names = r"\b(?:policy|graph)\.\w+"
    return re.sub(names, lambda found: f"{number(found[0], graph, device, threads):g}", text)


ORIENT_DEGREE: Final = 10
ORIENT_SKEW: Final = 1.3
"""Renumbering by degree pays for triangles where vertices have ten arcs and more, and the average degree is 1.3 times
the median: the rule and the constants of the GAP Benchmark Suite (Beamer, Asanovic and Patterson 2015, tc.cc)."""


def worth_orienting(graph: Graph) -> bool:
    """Whether an acyclic orientation by degree saves more in counting triangles than it costs to make."""
    n = graph.num_vertices
    if not n or graph.num_arcs < ORIENT_DEGREE * n:
        return False
    return bool(graph.num_arcs / n > ORIENT_SKEW * float(np.median(graph.out_degree)))


CUDA_ARCS: Final = 1 << 22
"""Arcs from which on a run that names no device goes to a GPU. Below, a CPU is done in the few milliseconds that a
launch, some dozens of grid barriers and copying the results back take; a first guess, to be measured."""
CUDA_ARCS_THERE: Final = 1 << 20
"""The same where the graph lies on the GPU already."""
CUDA_SHARE: Final = 0.5
"""Part of a GPU's memory that the arrays of such a graph may take: the rest is for properties and frontiers."""
CUDA_ARCS_PER_THREAD: Final = 4
"""Work per thread and round below which a smaller grid is launched: its barriers are cheaper."""
CUDA_DEEP_BLOCKS: Final = 2
"""Blocks per multiprocessor on deep graphs, whose rounds are short: a barrier of fewer blocks is quicker, a round of
more. Measured on an H200, road grid of 2048 x 2048, with 256, 512, 1024 and 2048 threads per multiprocessor: search
22.9, 17.6, 20.4 and 24.2 ms, shortest paths 48.5, 42.8, 40.6 and 42.6, PageRank 37.6, 23.6, 15.4 and 15.4; with 1024
in blocks of 512 instead of 256, 17.7, 37.1 and 15.4."""

CUDA_CLIMBING_BLOCKS: Final = 2
"""The same where nearly all is climbing the paths of disjoint sets, which are the longer the more climb them at a time.
Components of an R-MAT graph of scale 22 on an H200 with 1024, 1536 and 2048 threads per multiprocessor, medians of 15
in three turns: 0.48 to 0.50, 0.52 and 0.55 to 0.59 ms."""


def cuda_blocks(graph: Graph, multiprocessors: int, most: int, block: int) -> int:
    """Blocks of a cooperative launch, from 1 to `most`."""
    if graph.num_arcs >= LARGE and is_deep(graph):
        most = min(most, multiprocessors * CUDA_DEEP_BLOCKS)
    work = max(graph.num_vertices, graph.num_arcs // CUDA_ARCS_PER_THREAD)
    return max(1, min(most, -(-work // block)))


def worth_cuda(graph: Graph, memory: int) -> bool:
    """Whether a GPU with so many bytes of memory should run what names no device."""
    return graph.num_arcs >= CUDA_ARCS and fits_on_gpu(graph, memory)


def fits_on_gpu(graph: Graph, memory: int) -> bool:
    """Whether the arrays of a graph leave room for runs in so many bytes."""
    arrays = [graph.out.row_offsets, graph.out.columns, *graph.edge_properties.values()]
    sides = 2 if graph.directed else 1
    return sides * sum(a.nbytes for a in arrays) < CUDA_SHARE * memory

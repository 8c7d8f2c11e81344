"""Buckets of vertices by priority: entries in a heap, taken as the kernel level's nodes say."""

from __future__ import annotations

import heapq
from collections.abc import Generator
from typing import Any

import numpy as np

from vgraph.compiler import ir
from vgraph.compiler.interpret.expressions import evaluate
from vgraph.compiler.interpret.machine import Env, Frontier, Machine


def buckets_clear(m: Machine, env: Env, n: ir.BucketsClear) -> None:
    """`clear work buckets`."""
    m.buckets[n.buckets] = []
    m.queued[n.buckets] = set()


def key_of(m: Machine, env: Env, buckets: str, vertex: int) -> Any:
    """The key of `vertex` now."""
    declared = m.program.bucket_set(buckets)
    key = evaluate(m, {**env, declared.vertex: m.vid.type(vertex)}, declared.key)
    return float("-inf") if key != key else key  # a heap cannot hold NaN


def bucket_push(m: Machine, env: Env, n: ir.BucketPush) -> None:
    """`enqueue work v`."""
    v = int(evaluate(m, env, n.vertex))
    heap = m.buckets[n.buckets]
    tie = len(heap) if m.rng is None else int(m.rng.integers(1 << 30))
    m.queued[n.buckets].add(v)
    heapq.heappush(heap, (key_of(m, env, n.buckets, v), tie, v))


def bucket_advance(m: Machine, env: Env, n: ir.BucketAdvance) -> None:
    """`more = advance work`."""
    heap = m.buckets[n.buckets]
    env[n.more] = np.bool_(bool(heap))
    if heap:
        m.current[n.buckets] = heap[0][0]


def visits(m: Machine, n: ir.BucketLoop, env: Env) -> Generator[int, None, None]:
    """The vertices that a `parbucket` visits, chosen as the loop goes on."""
    declared = m.program.bucket_set(n.buckets)
    heap = m.buckets[n.buckets]
    if declared.tiles:
        yield from _tiles(m, n.buckets, declared.tiles)
        return
    before = sum(key == m.current.get(n.buckets) for key, _, _ in heap)
    while heap and (declared.strict or heap[0][0] == m.current[n.buckets]):
        key, _, v = heapq.heappop(heap)
        if declared.strict:
            stale = key_of(m, env, n.buckets, v) < key
        else:
            stale = v not in m.queued[n.buckets]
            m.queued[n.buckets].discard(v)
        if not stale:
            yield v
        before -= 1
        if before <= 0 and m.rng is not None and not declared.strict and m.rng.random() < 0.2:
            return  # what was pushed meanwhile waits for another advance


def _tiles(m: Machine, name: str, size: int) -> Generator[int, None, None]:
    """What waits in one tile after the other; if a seed was given, in any order, and a tile may be left at any time."""
    waiting = m.queued[name]
    while waiting:
        tile = _any(m, sorted(waiting)) // size
        while (inside := sorted(v for v in waiting if v // size == tile)) and (
            m.rng is None or m.rng.random() < 0.9
        ):
            v = _any(m, inside)
            waiting.discard(v)
            yield v


def left_in_tiles(m: Machine, n: ir.BucketLoop) -> bool:
    """Whether a loop over tiles has to go on."""
    return bool(m.program.bucket_set(n.buckets).tiles and m.queued[n.buckets])


def _any(m: Machine, vertices: list[int]) -> int:
    return vertices[0 if m.rng is None else int(m.rng.integers(len(vertices)))]


# --- priority queues above kernel level -----------------------------------------------------------------------


def queue_fill(m: Machine, env: Env, n: ir.QueueFill) -> None:
    """`refill queue`."""
    m.queues[n.queue], m.levels[n.queue] = set(range(m.num_vertices)), 0


def queue_pop(m: Machine, env: Env, n: ir.QueuePop) -> None:
    """`f = pop queue`."""
    values = m.priorities(next(q.prop for q in m.program.queues if q.name == n.queue))
    held = m.queues[n.queue]
    if held:
        m.levels[n.queue] = max(m.levels[n.queue], int(min(values[v] for v in held)))
    found = {v for v in held if values[v] <= m.levels[n.queue]}
    held -= found
    m.frontiers[n.out] = Frontier.of(found)

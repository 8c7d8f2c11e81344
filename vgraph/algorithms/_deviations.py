"""Paths in the order of their lengths, each leaving another one somewhere (Yen 1971; Lawler 1972)."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Path(NamedTuple):
    """The vertices of a path, and the sum of its weights."""

    vertices: NDArray[np.int64]
    length: float


def in_order(
    first: Any,
    target: int,
    left: NDArray[Any],
    ways_on: Callable[[int], dict[int, float]],
    rest: Callable[[list[int]], Any],
) -> Iterator[Path]:
    """All simple paths to `target` from where the shortest one, `first`, begins.

    `left`: how far the target is; `ways_on(v)`: the vertices after v, with how far they are from it; `rest(vertices)`:
    the shortest path from the last of these by none of the others. Paths have `path` and `length`.
    """
    # Of all paths that begin alike the heap has the shortest, or a bound of it: the length, the place in a row of
    # equal ones, the vertices, how many of them all these paths have, and how long that part is.
    number = count()
    heap: list[tuple[float, int, list[int], int, float]] = []
    if first.path.size:
        heap.append((float(first.length), next(number), first.path.tolist(), 1, 0.0))
    while heap:
        length, _, path, fixed, so_far = heapq.heappop(heap)
        if path[-1] != target:
            found = rest(path)
            if found.path.size:
                whole = path + found.path.tolist()[1:]
                heapq.heappush(heap, (so_far + float(found.length), next(number), whole, fixed, so_far))
            continue
        yield Path(np.array(path), length)
        for end in range(fixed, len(path)):
            ways = ways_on(path[end - 1])
            for v in ways.keys() - set(path[: end + 1]):
                beyond = so_far + ways[v]
                entry = beyond + float(left[v]), next(number), [*path[:end], v], end + 1, beyond
                heapq.heappush(heap, entry)
            so_far += ways[path[end]]

"""By hand, compiled by Numba."""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

from libraries import Call, Peer


class Library(Peer):
    """What no library has at its best."""

    def kcore(self) -> Call:
        offsets, columns = self.task.data.row_offsets, self.task.data.column_indices
        return lambda: cores(offsets, columns)


@nb.njit(cache=False)  # type: ignore[misc]
def cores(offsets: Any, columns: Any) -> Any:
    """Core numbers by buckets, serial (Batagelj and Zaversnik 2003)."""
    n = offsets.size - 1
    degree = (offsets[1:] - offsets[:-1]).astype(np.int32)
    start = np.zeros(degree.max() + 2, np.int64)
    for v in range(n):
        start[degree[v] + 1] += 1
    for d in range(1, start.size):
        start[d] += start[d - 1]
    place, order, free = np.empty(n, np.int64), np.empty(n, np.int32), start.copy()
    for v in range(n):
        place[v] = free[degree[v]]
        order[place[v]] = v
        free[degree[v]] += 1
    for i in range(n):
        v = order[i]
        for k in range(offsets[v], offsets[v + 1]):
            u = columns[k]
            if degree[u] > degree[v]:
                first = start[degree[u]]
                if first <= i:
                    first = i + 1
                other = order[first]
                if other != u:
                    order[place[u]], place[other] = other, place[u]
                    order[first], place[u] = u, first
                start[degree[u]] = first + 1
                degree[u] -= 1
    return degree

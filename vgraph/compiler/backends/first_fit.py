"""First-fit coloring of edges in machine code, for plans of conflicts: `prelude/matchings.loops`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.compiler.backends.machine_code import machine_code
from vgraph.graph import machine

_LOWEST_BIT = """
declare i64 @llvm.cttz.i64(i64, i1)
define internal i64 @lowest_bit(i64 %x) alwaysinline nounwind {
  %found = call i64 @llvm.cttz.i64(i64 %x, i1 true)
  ret i64 %found
}
"""


def first_fit(
    first: NDArray[np.uint32], second: NDArray[np.uint32], groups: NDArray[np.int64] | None = None
) -> NDArray[np.uint32]:
    """For each edge, by its ends, the least color that no edge of its group before it has at either end.

    `groups`: where groups begin, and the end of the last; by default all are one. Several threads take groups of their
    own; colors are the same whatever their number. O(1 + colors of the larger end / 64) for each edge; memory of 25
    bytes for each vertex and 13 for each edge, in each thread.
    """
    n = 1 + max((int(ends.max()) for ends in (first, second) if ends.size), default=-1)
    degrees = np.bincount(first, minlength=n) + np.bincount(second, minlength=n)
    words, places = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    np.cumsum((degrees + 31) >> 5, out=words[1:])
    np.cumsum(degrees, out=places[1:])
    colors = np.empty(first.size, np.uint32)
    first, second = np.ascontiguousarray(first, np.uint32), np.ascontiguousarray(second, np.uint32)
    groups = np.array([0, first.size]) if groups is None else groups

    def arrays(part: int) -> tuple[NDArray[Any], ...]:
        full, counts, used = np.zeros(n, np.uint32), np.zeros(n, np.uint32), np.zeros(n, np.uint8)
        bits, lists = np.zeros(int(words[-1]), np.uint64), np.empty(int(places[-1]), np.uint32)
        return groups, first, second, colors, words, bits, full, places, lists, counts, used

    function = machine_code("matchings", "vg_first_fit", external=(("lowest_bit", "i64"),), text=_LOWEST_BIT)
    machine.in_parts(function, machine.cuts(groups), arrays)
    return colors

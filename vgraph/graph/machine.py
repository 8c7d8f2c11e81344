"""Loops over arrays in machine code, for what is made of a graph; parts of their work go to several threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vgraph.cpus import default_threads

maker: Callable[[str, str, Mapping[str, str], Mapping[str, int]], Callable[..., None]] | None = None
"""Gives a function of a file of the prelude, with types and numbers that have names there; the compiler, which stands
above, puts it here (`vgraph/compiler/__init__.py`)."""
threads: Callable[[], int] = default_threads
"""How many threads there are to be used; tests set it."""
LEAST: Final = 1 << 16
"""Work of a part, at least: starting a thread takes as long as some ten thousand arcs."""


def cuts(work: NDArray[Any]) -> NDArray[np.int64]:
    """Where the items are cut so that threads have about equal work; `work`: that before each item, and all of it."""
    total = int(work[-1]) if work.size else 0
    parts = min(threads(), 1 + total // LEAST)
    inside = np.searchsorted(work[:-1], np.arange(1, parts) * (total // parts))
    return np.concatenate(([0], inside, [work.size - 1])).astype(np.int64)


def run(
    file: str,
    name: str,
    bounds: NDArray[np.int64],
    arguments: Callable[[int], tuple[Any, ...]],
    *,
    types: Mapping[str, str],
    numbers: Mapping[str, int] | None = None,
) -> None:
    """`in_parts` of the function of this name; `types` and `numbers`: what names stand for in its file."""
    assert maker is not None
    in_parts(maker(file, name, types, numbers or {}), bounds, arguments)


def in_parts(
    function: Callable[..., None], bounds: NDArray[np.int64], arguments: Callable[[int], tuple[Any, ...]]
) -> None:
    """`function(bounds[k], bounds[k + 1], *arguments(k))` for each part k, at the same time; arrays go by address."""

    def part(k: int) -> None:
        given = arguments(k)
        function(
            int(bounds[k]),
            int(bounds[k + 1]),
            *(x.ctypes.data if isinstance(x, np.ndarray) else x for x in given),
        )

    parts = range(bounds.size - 1)
    if len(parts) == 1:
        part(0)
        return
    from concurrent.futures import ThreadPoolExecutor  # loads 15 modules

    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(part, parts))


def machine_type(array: NDArray[Any]) -> str:
    """What the prelude calls the type of an array of ints, none of them negative: `u32`."""
    return f"u{8 * array.dtype.itemsize}"

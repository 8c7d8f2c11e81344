"""Sorting on a GPU by a kernel of our own: of 32-bit pairs, only the bits that keys have, and arcs as they are read.

CuPy sorts keys of 64 bits whole, and pairs with places of 64 bits.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from vgraph.cache import cached_object
from vgraph.compiler.backends.cuda.sorts import CONTROL_WORDS, DIGITS, TEXT, turns

if TYPE_CHECKING:
    from vgraph.runtime.devices.cuda.device import Device

_kernels: weakref.WeakKeyDictionary[Device, tuple[Any, int]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def sort_pairs(device: Device, keys: Any, values: Any, bits: int) -> tuple[Any, Any]:
    """Keys, of so many bits, in their order, and their values; where keys are equal, as they were. Arrays of uint32.

    Raises MemoryError."""
    return _sorted(device, int(keys.size), int(keys.size), bits, (keys, values, None, None, None, None, 0))


def sort_arcs(device: Device, line: Any, moves: Any, columns: Any, rank: Any, bits: int) -> tuple[Any, Any]:
    """Of the arcs of an undirected graph each that leads from an earlier to a later vertex: the rank of the later, and
    of the earlier; sorted by both. Arguments are as of `FromArcs` in `sort.cuh`. Raises MemoryError."""
    n, arcs = int(rank.size), int(columns.size)
    return _sorted(device, arcs, arcs // 2, bits, (None, None, line, moves, columns, rank, n))


def _sorted(device: Device, size: int, most: int, bits: int, source: tuple[Any, ...]) -> tuple[Any, Any]:
    """`most`: pairs that there may be of these arcs or pairs."""
    function, blocks = _kernel(device)
    grid = max(1, min(device.multiprocessors * blocks, -(-size // device.block)))
    control = device.zeros((CONTROL_WORDS,), np.uint64)
    counts = device.zeros((DIGITS * grid + 1,), np.uint32)
    places = [device.empty((most,), np.uint32) for _ in range(4)]
    *arrays, n = source
    line = [control, size, bits, *arrays, n, *places, counts]
    words = [x if isinstance(x, int) else 0 if x is None else device.address(x) for x in line]
    device.launch(function, np.array(words, np.uint64), grid)
    count, turn = int(device.download(counts[-1:])[0]), turns(bits)
    return places[turn][:count], places[2 + turn][:count]


def _kernel(device: Device) -> tuple[Any, int]:
    """The kernel on a device, and how many blocks of it a multiprocessor takes; compiled once on a machine."""
    with _lock:
        if device not in _kernels:
            about = {"what": "sort", "device": "cuda"}
            code, _ = cached_object(device.parts(TEXT), lambda: device.compile(TEXT), about)
            function = device.load(code)
            _kernels[device] = function, device.occupancy(function, 0)
        return _kernels[device]

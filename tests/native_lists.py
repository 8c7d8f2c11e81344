"""The lists of frontiers of a native run, read from its memory."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from vgraph.compiler.backends.abi import CONTEXT, LIST
from vgraph.compiler.backends.context import ContextView


def address_of(context: ContextView, number: int) -> int:
    """Where the descriptor of a list stands."""
    assert CONTEXT.type("lists") == "ptr"
    return context.get("lists") + number * LIST.size


def frontiers_of(context: ContextView, number: int) -> list[Any]:
    """Copies of the ids of all frontiers of a list."""
    entry = np.frombuffer(ctypes.string_at(address_of(context, number), LIST.size), LIST.dtype)[0]
    dtype = np.dtype(f"<u{int(entry['id_bytes']) or 4}")
    size = 8 * (int(entry["length"]) + 1)
    if size == 8:
        return []
    offsets = np.frombuffer(ctypes.string_at(int(entry["offsets"]), size), "<u8").astype(np.int64)
    ids = np.frombuffer(ctypes.string_at(int(entry["ids"]) or 0, int(offsets[-1]) * dtype.itemsize), dtype)
    return np.split(ids, offsets[1:-1])

"""Checks and dtypes of what goes into a graph: ids, properties, numbers of vertices."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError

MAX_VERTICES = 1 << 32  # what a packed key can hold
MAX_ID_32 = (1 << 31) - 1  # from this number of vertices on, ids are stored in 64 bits
MAX_OFFSET_32 = (1 << 32) - 4096  # a block's threads take arcs in turn and step beyond the last one


# --- sizes and dtypes -------------------------------------------------------------------------------------


def id_dtype(num_vertices: int, id_bits: int | None) -> np.dtype[Any]:
    """uint32, or uint64 from 2**31 vertices on or where `id_bits` forces it."""
    if id_bits == 32 and num_vertices > MAX_ID_32:
        raise GraphError(f"{num_vertices} vertices do not fit 32-bit ids; pass id_bits=64")
    return np.dtype(np.uint64 if id_bits == 64 or num_vertices > MAX_ID_32 else np.uint32)


def offset_dtype(num_arcs: int, id_bits: int | None) -> np.dtype[Any]:
    """uint32 where the number of arcs fits, uint64 otherwise or where `id_bits` forces it."""
    return np.dtype(np.uint64 if id_bits == 64 or num_arcs > MAX_OFFSET_32 else np.uint32)


def final_dtypes(
    row_offsets: NDArray[Any], columns: NDArray[Any], num_vertices: int, id_bits: int | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The arrays in the dtypes that a graph of this size stores; no copy where they have them already."""
    return (
        row_offsets.astype(offset_dtype(columns.size, id_bits), copy=False),
        columns.astype(id_dtype(num_vertices, id_bits), copy=False),
    )


def max_vertices() -> int:
    """The most vertices whose row offsets fit the physical memory of this machine."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a POSIX system: only the format limits it
        return MAX_VERTICES
    return min(MAX_VERTICES, memory // 4)


def check_num_vertices(num_vertices: int) -> None:
    """Refuse a number of vertices that is negative or cannot be held."""
    if num_vertices < 0:
        raise GraphError(f"num_vertices must not be negative, got {num_vertices}")
    if num_vertices > max_vertices():
        raise GraphError(
            f"{num_vertices} vertices need {4 * num_vertices / 1e9:.0f} GB of row offsets, and this machine "
            f"holds at most {max_vertices()} vertices; if the ids are sparse, renumber them from 0"
        )


# --- checking input ---------------------------------------------------------------------------------------


def as_ids(values: Any, what: str) -> NDArray[Any]:
    """`values` as a one-dimensional integer array, none negative; no copy where it is one already."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise GraphError(f"{what} must be one-dimensional, got shape {array.shape}")
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind == "f":
        whole = np.isfinite(array) & (np.floor(array) == array) & (np.abs(array) < 2.0**63)
        _refuse_first(~whole, array, what, "is not a whole number")
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise GraphError(f"{what} must hold integers, got {array.dtype}{_object_hint(array)}")
    if array.dtype.kind == "i" and int(array.min()) < 0:
        _refuse_first(array < 0, array, what, "is negative; vertices are numbered from 0")
    return array


def _object_hint(array: NDArray[Any]) -> str:
    """For an object array: its first entry that is no integer or does not fit 64 bits."""
    if array.dtype.kind != "O":
        return ""
    for index, value in enumerate(array):
        if not isinstance(value, (int, np.integer)):
            return f" ({value!r} at position {index})"
        if not 0 <= value < 1 << 64:
            return f" ({value} at position {index} does not fit 64 bits)"
    return ""


def _refuse_first(bad: NDArray[np.bool_], array: NDArray[Any], what: str, reason: str) -> None:
    if bad.any():
        index = int(np.argmax(bad))
        raise GraphError(f"{what}[{index}] = {array[index]} {reason}")


def check_below(array: NDArray[Any], what: str, num_vertices: int) -> None:
    """Refuse an id that is not below `num_vertices`."""
    if array.size and int(array.max()) >= num_vertices:
        _refuse_first(array >= num_vertices, array, what, f"is out of range: num_vertices is {num_vertices}")


def as_property(name: str, values: Any, length: int, of: str) -> NDArray[Any]:
    """`values` as a read-only property array of `length` rows; copied, unless it is read-only already.

    bool, int32, int64, uint32, uint64, float32 and float64 are kept; narrower integers become int32, float16
    becomes float32. One dimension, or two for vectors of a fixed length.
    """
    array = borrowed_property(name, values, length, of)
    if array.flags.writeable or array.base is not None:
        array = array.copy()
        array.flags.writeable = False
    return array


def borrowed_property(name: str, values: Any, length: int, of: str) -> NDArray[Any]:
    """The same, but perhaps memory of the caller's."""
    if not name.isidentifier():
        raise GraphError(f"property name {name!r} must be an identifier: operators write edge.name or v.name")
    array = np.asarray(values)
    if array.ndim not in (1, 2):
        raise GraphError(f"property {name!r} must have one or two dimensions, got shape {array.shape}")
    if array.shape[0] != length:
        raise GraphError(f"property {name!r} has {array.shape[0]} rows, but there are {length} {of}")
    return array.astype(_property_dtype(name, array.dtype), order="C", copy=False)


def as_properties(properties: Mapping[str, Any], length: int, of: str) -> dict[str, NDArray[Any]]:
    """Each of `properties` through `as_property`."""
    return {name: as_property(name, values, length, of) for name, values in properties.items()}


def freeze(properties: Mapping[str, NDArray[Any]]) -> None:
    """Make the arrays read-only."""
    for values in properties.values():
        values.flags.writeable = False


def _property_dtype(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.kind == "b":
        return np.dtype(np.bool_)
    if dtype.kind in "iu":
        return np.dtype(np.int32) if dtype.itemsize < 4 else dtype.newbyteorder("=")
    if dtype.kind == "f" and dtype.itemsize <= 8:
        return np.dtype(np.float32) if dtype.itemsize < 4 else dtype.newbyteorder("=")
    allowed = "bool, int32, int64, uint32, uint64, float32 or float64"
    raise GraphError(f"property {name!r} has dtype {dtype}; use {allowed}")

"""Checks and dtypes of what goes into a graph: ids, properties, numbers of vertices."""

from __future__ import annotations

import functools
import operator
import os
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vgraph.errors import GraphError, shown

MAX_VERTICES = 1 << 32  # what a packed key can hold
MAX_ID_32 = (1 << 31) - 1  # from this number of vertices on, ids are stored in 64 bits
MAX_OFFSET_32 = (1 << 32) - 4096  # a block's threads take arcs in turn and step beyond the last one
BYTES_PER_VERTEX = 16  # building takes 5, a run of shortest paths 12 in all (PageRank 32), arcs left out


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
    row_offsets: NDArray[Any],
    columns: NDArray[Any],
    num_vertices: int,
    id_bits: int | None,
    *,
    copy: bool = False,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The arrays in the dtypes that a graph of this size stores; `copy`: even where they have them already."""
    return (
        row_offsets.astype(offset_dtype(columns.size, id_bits), copy=copy),
        columns.astype(id_dtype(num_vertices, id_bits), copy=copy),
    )


@functools.cache
def memory() -> int:
    """Bytes that this process may use: the machine's memory, or less where its group or a limit says so."""
    return min(_memory_bounds(), default=1 << 62)


def _memory_bounds() -> Iterator[int]:
    with suppress(AttributeError, ValueError, OSError):  # not a POSIX system
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for file in _GROUP_LIMITS:
        with suppress(OSError, ValueError):  # another system, or the word "max"
            yield int(Path(file).read_text())
    with suppress(ImportError, AttributeError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            yield limit


_GROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def max_vertices(bytes_each: int = BYTES_PER_VERTEX) -> int:
    """The most vertices of a graph that this machine can build and run on."""
    return min(MAX_VERTICES, memory() // bytes_each)


def too_many_vertices(num_vertices: int, bytes_each: int = BYTES_PER_VERTEX) -> str | None:
    """Why there cannot be so many vertices; None if there can."""
    if num_vertices <= max_vertices(bytes_each):
        return None
    return (
        f"{shown(num_vertices)} vertices need {shown(num_vertices * bytes_each // 10**9)} GB of memory, and "
        f"this machine holds at most {max_vertices(bytes_each)}; if the ids are sparse, renumber them from 0"
    )


def check_num_vertices(num_vertices: Any) -> int:
    """The number of vertices as an int; refuse one that is no whole number, negative, or cannot be held."""
    try:
        count = operator.index(num_vertices)
    except TypeError:
        raise GraphError(f"num_vertices must be an integer, got {shown(num_vertices)}") from None
    if count < 0:
        raise GraphError(f"num_vertices must not be negative, got {shown(count)}")
    if reason := too_many_vertices(count):
        raise GraphError(reason)
    return count


# --- checking input ---------------------------------------------------------------------------------------


def as_array(values: Any, what: str) -> NDArray[Any]:
    """`values` as a NumPy array, of any dtype and shape."""
    try:
        return np.asarray(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise GraphError(f"{what} cannot be made an array: {error}") from None


def as_ids(values: Any, what: str) -> NDArray[Any]:
    """`values` as a one-dimensional integer array, none negative; no copy where it is one already."""
    array = as_array(values, what)
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
            return f" ({shown(value)} at position {index})"
        if not 0 <= value < 1 << 64:
            return f" ({shown(value)} at position {index} does not fit 64 bits)"
    return ""


def _refuse_first(bad: NDArray[np.bool_], array: NDArray[Any], what: str, reason: str) -> None:
    if bad.any():
        index = int(np.argmax(bad))
        raise GraphError(f"{what}[{index}] = {array[index]} {reason}")


def check_below(array: NDArray[Any], what: str, num_vertices: int) -> None:
    """Refuse an id that is not below `num_vertices`."""
    if array.size and int(array.max()) >= num_vertices:
        _refuse_first(array >= num_vertices, array, what, f"is out of range: num_vertices is {num_vertices}")


def check_offsets(offsets: NDArray[Any], num_arcs: int) -> int:
    """The number of vertices that row offsets describe."""
    if offsets.size == 0:
        raise GraphError("row_offsets is empty; it has one entry more than there are vertices")
    if int(offsets[0]) != 0 or int(offsets[-1]) != num_arcs:
        raise GraphError(
            f"row_offsets must go from 0 to the number of column_indices, {num_arcs}; "
            f"it goes from {offsets[0]} to {offsets[-1]}"
        )
    falls = offsets[1:] < offsets[:-1]
    if falls.any():
        raise GraphError(f"row_offsets must ascend; it falls after entry {int(np.argmax(falls))}")
    return check_num_vertices(offsets.size - 1)


def check_name(name: object) -> str:
    """The name of a property; refuse one that operators could not write behind a dot."""
    if not (isinstance(name, str) and name.isidentifier()):
        raise GraphError(f"property name {name!r} must be an identifier: operators write edge.name or v.name")
    written = unicodedata.normalize("NFKC", name)
    if written != name:
        raise GraphError(f"property name {name!r} would be read as {written!r} by Python: use that name")
    return name


def as_property(name: str, values: Any, length: int, of: str) -> NDArray[Any]:
    """A copy of `values` as a sealed property array of `length` rows.

    bool, int32, int64, uint32, uint64, float32 and float64 are kept; narrower integers become int32, float16
    becomes float32. One dimension, or two for vectors of a fixed length.
    """
    return sealed(np.array(borrowed_property(name, values, length, of)))


def borrowed_property(name: str, values: Any, length: int, of: str) -> NDArray[Any]:
    """The same, but neither copied, where that can be, nor sealed."""
    check_name(name)
    if isinstance(values, Mapping):
        raise GraphError(
            f"{name}={{...}}: each property of {of} is a keyword of its own, such as weight=[1.5, 2.0]"
        )
    array = as_array(values, f"property {name!r}")
    if array.ndim not in (1, 2):
        raise GraphError(f"property {name!r} must have one or two dimensions, got shape {array.shape}")
    if array.shape[0] != length:
        raise GraphError(f"property {name!r} has {array.shape[0]} rows, but there are {length} {of}")
    return array.astype(_property_dtype(name, array.dtype), order="C", copy=False)


def as_properties(properties: Mapping[str, Any], length: int, of: str) -> dict[str, NDArray[Any]]:
    """Each of `properties` through `as_property`."""
    if not isinstance(properties, Mapping):
        raise GraphError(f"properties of {of} are a dict of arrays by name, got {type(properties).__name__}")
    return {name: as_property(name, values, length, of) for name, values in properties.items()}


def on_gpu(values: object) -> bool:
    """Whether this is an array of CuPy's, or one like it."""
    return hasattr(values, "__cuda_array_interface__") and hasattr(values, "get")


def host_of(values: Any) -> NDArray[Any]:
    """`values` as an array of NumPy's, copied from a GPU if they lie there."""
    return np.asarray(values.get() if on_gpu(values) else values)


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory, which nobody else may write to, as an array that cannot be made writable again.

    An array whose flag says read-only can be told otherwise as long as it owns its memory; one that looks through a
    read-only memoryview cannot. Arrays on a GPU, which graphs have that no user sees, are trusted as they are.
    """
    assert array.flags.c_contiguous, "kernels walk arrays element by element"
    if on_gpu(array):
        return array
    base: object = array.base
    if isinstance(base, memoryview) and base.readonly:
        again = np.asarray(base)
        if again.shape == array.shape and again.dtype == array.dtype:
            return again
    array.flags.writeable = False
    return np.asarray(array.data)


def handed_out(array: NDArray[Any]) -> NDArray[Any]:
    """A new array object over the memory of a sealed one.

    Whoever has an array object can change its dtype, shape and strides in place. What is kept for compiled code is
    therefore never handed out itself.
    """
    if on_gpu(array):
        return array
    return np.asarray(array.base)


def memory_of(array: NDArray[Any]) -> object:
    """What owns the memory of a sealed array: one and the same object, however often the array is handed out."""
    base: object = array.base
    assert isinstance(base, memoryview), "a sealed array looks through one"
    return base.obj


class Elsewhere(Protocol):
    """An array that lies on a device, and comes to the host when somebody wants to see it there."""

    size: int
    nbytes: int
    dtype: np.dtype[Any]

    def fetch(self) -> NDArray[Any]:
        """It on the host, sealed; copied now if it has not been."""

    def take(self, places: NDArray[np.int64]) -> NDArray[Any]:
        """Some of it, by their places."""


class SealedArrays(Mapping[str, NDArray[Any]]):
    """Arrays by name that nobody can change: sealed, and handed out as a new object each time."""

    __slots__ = ("_kept",)

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._kept = {name: sealed(values) for name, values in arrays.items()}

    def __getitem__(self, name: str) -> NDArray[Any]:
        return handed_out(self._kept[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, name: object) -> bool:
        return name in self._kept

    def __repr__(self) -> str:
        return repr(self._kept)


def _property_dtype(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.kind == "b":
        return np.dtype(np.bool_)
    if dtype.kind in "iu":
        return np.dtype(np.int32) if dtype.itemsize < 4 else dtype.newbyteorder("=")
    if dtype.kind == "f" and dtype.itemsize <= 8:
        return np.dtype(np.float32) if dtype.itemsize < 4 else dtype.newbyteorder("=")
    allowed = "bool, int32, int64, uint32, uint64, float32 or float64"
    raise GraphError(f"property {name!r} has dtype {dtype}; use {allowed}")
